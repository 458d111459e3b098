from __future__ import annotations

import fcntl
import os
import secrets
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection, Engine, text

from grader import __version__
from grader.errors import Conflict, GraderError
from grader.records import dump
from grader.records.schema import missing, revision_of
from grader.service.operation.archive import FORMAT, ArchiveManifest, Writer, secret_member, table_member
from grader.settings import Settings

# Holds a note for each unfinished backup.
_NOTES = "backups-at-work"
_PARTIAL = ".partial"

# A table's name and its rows done.
OnProgress = Callable[[str, int], None]


class BackupFailed(GraderError):
    """Nothing was written under that name."""

    code = "backup_failed"


def backup(
    settings: Settings, engine: Engine, path: Path, on_progress: OnProgress = lambda _t, _n: None
) -> ArchiveManifest:
    """All tables as of one moment, readable only by the owner, or nothing. Raises Conflict (the file exists, or
    nothing to back up), BackupFailed."""
    if path.exists():
        raise Conflict(
            f"The file '{path}' already exists.", "Choose a new name; backups do not overwrite files."
        )
    partial = path.absolute().with_name(f".{path.name}.{os.getpid()}{_PARTIAL}")
    try:
        with _noted(settings, partial), _snapshot(engine) as connection:
            manifest = _write(settings, connection, partial, on_progress)
        # Unlike a rename, fails if the file exists.
        os.link(partial, path)
        _sync(path.parent)
    except OSError as error:
        raise BackupFailed(
            f"The backup cannot be written to '{path}': {error.strerror}.", "No part of it was left there."
        ) from error
    finally:
        partial.unlink(missing_ok=True)
    return manifest


def interrupted(settings: Settings) -> list[Path]:
    """Left by killed backups, with sources and secrets."""
    return [partial for _, partial in _dead(settings.data_dir / _NOTES) if partial.is_file()]


def _dead(folder: Path) -> Iterator[tuple[Path, Path]]:
    """Whose process is gone, with their content."""
    for note in sorted(folder.glob("*")):
        with suppress(OSError, UnicodeError), note.open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)  # raises while its process lives
            if (partial := Path(file.read())).suffix == _PARTIAL:
                yield note, partial


@contextmanager
def _noted(settings: Settings, partial: Path) -> Iterator[None]:
    """Notes the file; the note survives if this process is killed."""
    folder = settings.data_dir / _NOTES
    note = folder / f"{os.getpid()}-{secrets.token_hex(4)}"
    with ExitStack() as stack:
        # A backup without a note is better than none.
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            for old, left in _dead(folder):
                if not left.exists():
                    old.unlink(missing_ok=True)
            file = stack.enter_context(note.open("w"))
            stack.callback(note.unlink, missing_ok=True)
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write(str(partial))
            file.flush()
        yield


@contextmanager
def _snapshot(engine: Engine) -> Iterator[Connection]:
    """Sees the database as of the first read. SQLite in WAL mode lets others write meanwhile."""
    options = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
    with engine.connect() as connection:
        if connection.dialect.name == "postgresql":
            connection = connection.execution_options(**options)
        with connection.begin():
            if connection.dialect.name == "postgresql":
                for name in ("statement_timeout", "idle_in_transaction_session_timeout"):
                    connection.execute(text(f"SET LOCAL {name} = 0"))
            yield connection


def _write(
    settings: Settings, connection: Connection, partial: Path, on_progress: OnProgress
) -> ArchiveManifest:
    revision = revision_of(connection)
    if revision is None:
        raise Conflict(
            "The database has no tables, so there is nothing to back up.", "Check GRADER_DATABASE_URL."
        )
    missing(revision)  # raises SchemaTooNew: unknown tables
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        with zipfile.ZipFile(file, "w", allowZip64=True) as archive:
            writer = Writer(partial, archive)
            for table in dump.tables(connection):
                if table.name in dump.LEFT_OUT:
                    continue
                on_progress(table.name, 0)
                for count in writer.add(table_member(table.name), dump.lines(connection, table)):
                    on_progress(table.name, count - 1)
            for secret in sorted((settings.data_dir / "secrets").glob("[!.]*")):
                list(writer.add(secret_member(secret.name), [secret.read_bytes()]))
            manifest = ArchiveManifest(
                format=FORMAT,
                grader=__version__,
                schema_revision=revision,
                database=connection.dialect.name,
                created_at=datetime.now(UTC).isoformat(timespec="seconds"),
                left_out=sorted(dump.LEFT_OUT),
                members=writer.members,
            )
            writer.close(manifest)
        file.flush()
        os.fsync(file.fileno())
    return manifest


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
