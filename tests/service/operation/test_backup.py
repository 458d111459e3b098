"""A backup holds everything and restores into either kind of database; a bad one or a full disk changes nothing."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import stat
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event, func, make_url, select, text

from grader.cli import machine_checks
from grader.cli.checks import Level
from grader.errors import Conflict
from grader.records import dump, schema
from grader.records.engine import make_engine, writing, writing_connection
from grader.records.models import Base, SubmissionRow, UserRow
from grader.records.schema import SchemaTooNew, head, missing_of
from grader.service.accounts import accounts, tokens
from grader.service.boards import leaderboard
from grader.service.operation import backup, restore
from grader.service.operation.archive import FORMAT, ArchiveManifest, BadBackup, Member, Reader
from grader.service.platform import Platform, open_platform
from grader.service.submissions import submissions
from grader.settings import Settings
from tests.databases import KINDS
from tests.records import releases
from tests.records.postgres import drop_database, new_database
from tests.web import builders

pytestmark = pytest.mark.both_databases

Filled = Callable[..., str]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Filled:
    """A migrated database of an earlier release with all sorts of rows, once for each kind."""
    made: dict[str, str] = {}

    def fill(kind: str, server: str = "") -> str:
        if kind not in made:
            name = f"filled_{kind}"
            file = tmp_path_factory.mktemp(name) / "grader.sqlite3"
            made[kind] = new_database(server, name) if server else f"sqlite:///{file}"
            engine = make_engine(made[kind])
            releases.make(engine, "0005")
            schema.upgrade(engine)
            engine.dispose()
        return made[kind]

    return fill


@pytest.fixture(params=KINDS)
def source(request: pytest.FixtureRequest, tmp_path: Path, filled: Filled) -> Iterator[Platform]:
    if request.param == "sqlite":
        url = (
            f"sqlite:///{shutil.copy(str(make_url(filled('sqlite')).database), tmp_path / 'grader.sqlite3')}"
        )
    else:
        server = request.getfixturevalue("postgres_url")
        url = new_database(server, "source", str(make_url(filled("postgres", server)).database))
    platform = open_platform(builders.make_settings(tmp_path / "one", database_url=url))
    platform.settings.secret("seeds")
    yield platform
    platform.close()
    if request.param == "postgres":
        drop_database(url)


@pytest.fixture(params=KINDS)
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Settings]:
    url = f"sqlite:///{tmp_path / 'other.sqlite3'}"
    if request.param == "postgres":
        url = new_database(request.getfixturevalue("postgres_url"), "restored")
    yield builders.make_settings(tmp_path / "two", database_url=url)
    if request.param == "postgres":
        drop_database(url)


def rows(engine: Engine) -> dict[str, list[bytes]]:
    with writing_connection(engine) as connection:
        return {table.name: list(dump.lines(connection, table)) for table in dump.tables(connection)}


def put_back(settings: Settings, file: Path, **values: Any) -> dict[str, list[bytes]]:
    engine = make_engine(settings.sql_url)
    restore.restore(settings, engine, file, **values)
    found = rows(engine)
    engine.dispose()
    return found


def secrets(settings: Settings) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (settings.data_dir / "secrets").iterdir()}


def test_a_backup_restores_everything_in_either_database(
    source: Platform, target: Settings, tmp_path: Path
) -> None:
    file = tmp_path / "backup"
    manifest = backup.backup(source.settings, source.engine, file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert (manifest.schema_revision, manifest.members["tables/submissions.jsonl"].rows) == (head(), 6)
    before = rows(source.engine)
    assert put_back(target, file) == before
    assert set(before) == set(Base.metadata.tables)
    assert secrets(target) == secrets(source.settings)
    restored = open_platform(target)
    user = tokens.user_of_token(restored, releases.TOKENS["0005"])
    board = leaderboard.leaderboard(restored, "vector_add", device="cpu", version=1, viewer=user)
    assert [(entry.user, entry.time_us) for entry in board.entries] == releases.BOARD
    assert len(submissions.list_submissions(restored, user).submissions) == 3
    # Ids continue.
    assert accounts.create_user(restored, "new", "correct horse").id == 4
    assert builders.hand_in(restored, user).id
    restored.close()


def test_a_backup_of_an_earlier_release_is_upgraded(tmp_path: Path, empty_url: str, target: Settings) -> None:
    engine = make_engine(empty_url)
    releases.make(engine, "0001")
    settings = builders.make_settings(tmp_path / "one", database_url=empty_url)
    manifest = backup.backup(settings, engine, tmp_path / "backup")
    engine.dispose()
    assert manifest.schema_revision == "0001"
    put_back(target, tmp_path / "backup")
    restored = open_platform(target, migrate=False)
    assert missing_of(restored.engine) == []
    assert tokens.user_of_token(restored, releases.TOKENS["0001"]).name == "ada"
    restored.close()


def test_a_backup_is_a_consistent_snapshot(source: Platform, tmp_path: Path, target: Settings) -> None:
    """Somebody signs up and submits between two tables of the backup: neither is in it."""
    done = threading.Event()

    def told(table: str, _rows: int) -> None:
        if table == "users" and not done.is_set():
            done.set()
            late = accounts.create_user(source, "late", "correct horse")
            builders.hand_in(source, late)

    backup.backup(source.settings, source.engine, tmp_path / "backup", told)
    assert done.is_set()
    put_back(target, tmp_path / "backup")
    engine = make_engine(target.sql_url)
    with engine.connect() as connection:
        assert connection.scalar(select(func.count()).select_from(UserRow)) == 3
        assert connection.scalar(select(func.count()).select_from(SubmissionRow)) == 6
    engine.dispose()


def test_restore_keeps_existing_data_unless_replacing(
    source: Platform, tmp_path: Path, target: Settings
) -> None:
    file = tmp_path / "backup"
    backup.backup(source.settings, source.engine, file)
    there = open_platform(target)
    accounts.create_user(there, "resident", "correct horse")
    before = rows(there.engine)
    with pytest.raises(Conflict, match="not empty"):
        restore.restore(target, there.engine, file)
    assert rows(there.engine) == before
    there.close()
    assert put_back(target, file, replace=True) == rows(source.engine)


def test_restore_keeps_existing_secrets_unless_replacing(source: Platform, tmp_path: Path) -> None:
    backup.backup(source.settings, source.engine, tmp_path / "backup")
    target = builders.make_settings(tmp_path / "two")
    own = target.secret("seeds")
    engine = make_engine(target.sql_url)
    with pytest.raises(Conflict, match="differs from the backup's"):
        restore.restore(target, engine, tmp_path / "backup")
    assert target.secret("seeds") == own
    assert list(secrets(target)) == ["seeds"]
    restore.restore(target, engine, tmp_path / "backup", replace=True)
    assert target.secret("seeds") == source.settings.secret("seeds")
    engine.dispose()


def test_restore_is_refused_while_workers_run(source: Platform, tmp_path: Path) -> None:
    from grader.languages import Language
    from grader.records import workers
    from grader.records.models import utcnow

    backup.backup(source.settings, source.engine, tmp_path / "backup")
    with writing(source.sessions) as session:
        workers.register(session, "busy", "cpu", [Language.TRITON], utcnow())
    with pytest.raises(Conflict, match="busy is using"):
        restore.restore(source.settings, source.engine, tmp_path / "backup", replace=True)


@pytest.mark.parametrize("kept", [0.0, 0.3, 0.9, 0.999])
def test_a_truncated_file_changes_nothing(
    source: Platform, tmp_path: Path, target: Settings, kept: float
) -> None:
    file = tmp_path / "backup"
    backup.backup(source.settings, source.engine, file)
    content = file.read_bytes()
    file.write_bytes(content[: int(len(content) * kept)])
    with pytest.raises(BadBackup):
        put_back(target, file)
    assert_empty(target)


def assert_empty(settings: Settings) -> None:
    engine = make_engine(settings.sql_url)
    assert rows(engine) == {}
    assert not list((settings.data_dir / "secrets").glob("*"))
    engine.dispose()


def test_a_changed_row_is_detected(source: Platform, tmp_path: Path, target: Settings) -> None:
    backup.backup(source.settings, source.engine, tmp_path / "backup")
    with (
        zipfile.ZipFile(tmp_path / "backup") as good,
        zipfile.ZipFile(tmp_path / "forged", "w") as forged,
    ):
        for name in good.namelist():
            content = good.read(name)
            forged.writestr(name, content.replace(b'"student"', b'"staff"') if "users" in name else content)
    with pytest.raises(BadBackup, match=r"tables/users.jsonl in the backup is damaged"):
        put_back(target, tmp_path / "forged")
    assert_empty(target)


def forge(file: Path, member: str) -> Path:
    """A backup with only ``member``, and a manifest that lists it."""
    manifest = ArchiveManifest(
        format=FORMAT,
        grader="1",
        schema_revision=head(),
        database="sqlite",
        created_at="2026-01-01T00:00:00+00:00",
        left_out=[],
        members={member: Member(sha256=hashlib.sha256(b"forged").hexdigest())},
    )
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(member, b"forged")
        archive.writestr("manifest.json", manifest.model_dump_json())
    return file


@pytest.mark.parametrize(
    "member",
    [
        "secrets/./../../outside/x",
        "secrets/../up.lock",
        "secrets//etc/x",
        "secrets/sub/x",
        "secrets/..",
        "secrets/",
        "secrets/.hidden",
        "secrets/a\\b",
        "secrets/a\nb",
        "secrets",
        "/secrets/x",
        "../secrets/x",
        "tables/../secrets/x",
        "elsewhere/x",
    ],
)
def test_an_archive_member_outside_is_refused(tmp_path: Path, member: str) -> None:
    with (
        zipfile.ZipFile(forge(tmp_path / "forged", member)) as archive,
        pytest.raises(BadBackup, match="contains"),
    ):
        Reader(archive)


def test_a_backup_with_an_outside_member_changes_nothing(tmp_path: Path, target: Settings) -> None:
    with pytest.raises(BadBackup, match="contains"):
        put_back(target, forge(tmp_path / "forged", "secrets/./../../outside"))
    assert_empty(target)
    assert not (tmp_path / "outside").exists()


def test_secrets_are_restored_only_into_their_folder(tmp_path: Path) -> None:
    """Even if the archive's own checks let it through."""
    settings = builders.make_settings(tmp_path)
    with pytest.raises(BadBackup, match="outside"):
        restore._stage_secrets(settings, {"good": b"x", "../../outside": b"x"}, replace=False)
    assert not list((settings.data_dir / "secrets").glob("*"))


_KILLED = """
import sys, time
from pathlib import Path
from grader.records.engine import make_engine
from grader.service.operation.backup import backup
from tests.web.builders import make_settings

def told(table, rows):
    print("at work", flush=True)
    time.sleep(600)

folder, url, file = sys.argv[1:]
backup(make_settings(Path(folder), database_url=url), make_engine(url), Path(file), told)
"""


def test_leftovers_of_a_killed_backup_are_reported(
    source: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, url = tmp_path / "my backup", source.engine.url.render_as_string(hide_password=False)
    command = [sys.executable, "-c", _KILLED, str(tmp_path / "one"), url, str(file)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[3])
    assert process.stdout is not None
    assert process.stdout.readline() == b"at work\n"
    assert backup.interrupted(source.settings) == [], "it is at work"
    process.kill()
    process.communicate()
    left = tmp_path / f".my backup.{process.pid}.partial"
    assert backup.interrupted(source.settings) == [left]
    monkeypatch.setenv("GRADER_DATA_DIR", str(source.settings.data_dir))
    (found,) = machine_checks.leftovers()
    assert (found.level, found.hint) == (Level.MISSING, f"rm '{left}'")
    backup.backup(source.settings, source.engine, file)
    assert backup.interrupted(source.settings) == [left], "another backup leaves it to who looks"
    left.unlink()
    backup.backup(source.settings, source.engine, tmp_path / "next")
    assert machine_checks.leftovers() == []
    assert list((source.settings.data_dir / "backups-at-work").iterdir()) == []


def test_a_backup_of_a_later_grader_is_refused(source: Platform, tmp_path: Path, target: Settings) -> None:
    with writing(source.sessions) as session:
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(SchemaTooNew):
        backup.backup(source.settings, source.engine, tmp_path / "backup")
    assert list(tmp_path.glob("*backup*")) == []


def test_a_full_disk_leaves_no_backup(
    source: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(backup.BackupFailed, match="No space left"):
        backup.backup(source.settings, source.engine, tmp_path / "backup")
    assert [path.name for path in tmp_path.iterdir() if "backup" in path.name] == []


def test_a_backup_is_never_overwritten(source: Platform, tmp_path: Path) -> None:
    (tmp_path / "backup").write_text("the last good one")
    with pytest.raises(Conflict, match="already"):
        backup.backup(source.settings, source.engine, tmp_path / "backup")
    assert (tmp_path / "backup").read_text() == "the last good one"


def test_a_restore_into_a_full_database_changes_nothing(source: Platform, tmp_path: Path) -> None:
    backup.backup(source.settings, source.engine, tmp_path / "backup")
    target = builders.make_settings(tmp_path / "two")
    engine = make_engine(target.sql_url)
    # Room for the tables, not for the rows.
    event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA max_page_count = 40"))
    with pytest.raises(restore.RestoreFailed, match="full"):
        restore.restore(target, engine, tmp_path / "backup")
    engine.dispose()
    assert_empty(target)
