"""Damaged SQLite files are reported before anything is lost; an intact log is never suspected."""

from __future__ import annotations

import shutil
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from grader import limits
from grader.cli import machine_checks
from grader.cli.checks import Level
from grader.records import integrity
from grader.records.engine import make_engine
from grader.records.integrity import DatabaseDamaged, check_pages
from grader.service.accounts.accounts import create_user
from grader.service.platform import open_platform
from tests.service.world import make_settings

ROWS = 12
pytestmark = pytest.mark.usefixtures("durable_sqlite")


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Engine]:
    """An open database with rows that are only in its log, one transaction each."""
    engine = make_engine(f"sqlite:///{tmp_path / 'live' / 'it.sqlite3'}")
    with engine.connect() as connection:
        driver = connection.connection.driver_connection
        assert driver is not None
        driver.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, what TEXT)")
        driver.execute("PRAGMA wal_checkpoint(RESTART)")
        for number in range(ROWS):
            driver.execute("INSERT INTO rows VALUES (?, ?)", (number, f"{number}" * 1500))
        yield engine
    engine.dispose()


def killed(live: Engine, to: Path) -> Path:
    """The files after every process of the platform was killed."""
    shutil.copytree(Path(str(live.url.database)).parent, to)
    return to / "it.sqlite3"


def rows(file: Path) -> int:
    engine = make_engine(f"sqlite:///{file}")
    with engine.connect() as connection:
        count = connection.scalar(text("SELECT count(*) FROM rows"))
    engine.dispose()
    return int(count or 0)


def wal(file: Path) -> Path:
    return file.with_name(f"{file.name}-wal")


def shm(file: Path) -> Path:
    return file.with_name(f"{file.name}-shm")


def flip(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


def in_frame(number: int, place: int = 2000) -> int:
    """The offset of a byte of a frame; 0 is the first frame, -1 the last."""
    return 32 + number * (24 + 4096) + place if number >= 0 else number * (24 + 4096) + place


Damage = Callable[[Path], object]
NO_INDEX: Damage = lambda file: shm(file).unlink()  # noqa: E731
DAMAGED: dict[str, list[Damage]] = {
    "the first transaction": [lambda file: flip(wal(file), in_frame(0))],
    "one in the middle": [lambda file: flip(wal(file), in_frame(5))],
    "the last one": [lambda file: flip(wal(file), in_frame(-1))],
    "the head of a frame": [lambda file: flip(wal(file), in_frame(3, 9))],
    "the header": [lambda file: flip(wal(file), 1)],
    "the salts of the header": [lambda file: flip(wal(file), 17)],
    "it is cut": [lambda file: wal(file).write_bytes(wal(file).read_bytes()[: in_frame(5, 7)])],
    "it is cut between frames": [
        lambda file: wal(file).write_bytes(wal(file).read_bytes()[: in_frame(5, 0)])
    ],
    "it is empty": [lambda file: wal(file).write_bytes(b"")],
    "it is gone": [lambda file: wal(file).unlink()],
    "without an index, one in the middle": [NO_INDEX, lambda file: flip(wal(file), in_frame(5))],
    "without an index, the last one": [NO_INDEX, lambda file: flip(wal(file), in_frame(-1))],
    "without an index, the header": [NO_INDEX, lambda file: flip(wal(file), 1)],
}


@pytest.mark.parametrize("damage", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_log_is_refused_before_sqlite_drops_its_content(
    live: Engine, tmp_path: Path, damage: list[Damage]
) -> None:
    file = killed(live, tmp_path / "killed")
    for part in damage:
        part(file)
    before = {path: path.read_bytes() for path in file.parent.iterdir()}
    with pytest.raises(DatabaseDamaged) as caught:
        make_engine(f"sqlite:///{file}")
    assert "wal" in caught.value.message
    assert "grader admin restore" in caught.value.hint
    assert {path: path.read_bytes() for path in file.parent.iterdir()} == before


def _torn(file: Path) -> None:
    """After a power cut during an unacknowledged transaction: its commit is there, a frame before it is not."""
    content, index = bytearray(wal(file).read_bytes()), bytearray(shm(file).read_bytes())
    content[in_frame(-1)] ^= 1
    for place in (16, 64):
        (committed,) = struct.unpack_from("=I", index, place)
        struct.pack_into("=I", index, place, committed - 3)
    wal(file).write_bytes(content)
    shm(file).write_bytes(index)


WHOLE: dict[str, tuple[Damage, int]] = {
    "nothing": (lambda file: None, ROWS),
    "no index": (NO_INDEX, ROWS),
    "no log and no index": (lambda file: (wal(file).unlink(), shm(file).unlink()), 0),
    "half a frame behind": (lambda file: wal(file).write_bytes(wal(file).read_bytes() + bytes(999)), ROWS),
    "frames of an earlier log behind": (
        lambda file: wal(file).write_bytes(wal(file).read_bytes() + b"\1" * 3 * (24 + 4096)),
        ROWS,
    ),
    "a transaction that was not confirmed": (_torn, ROWS - 1),
}


@pytest.mark.parametrize(("change", "left"), WHOLE.values(), ids=WHOLE)
def test_a_kill_or_power_cut_leaves_no_damage(
    live: Engine, tmp_path: Path, change: Damage, left: int
) -> None:
    file = killed(live, tmp_path / "killed")
    change(file)
    assert rows(file) == left


def test_a_restarted_log_is_not_damage(live: Engine, tmp_path: Path) -> None:
    """Frames already copied into the database stay in the file after the new ones."""
    with live.connect() as connection:
        connection.exec_driver_sql("COMMIT")
        connection.exec_driver_sql("PRAGMA wal_checkpoint(RESTART)")
        assert rows(killed(live, tmp_path / "copied")) == ROWS
        connection.exec_driver_sql("INSERT INTO rows VALUES (1000, 'new')")
    assert rows(killed(live, tmp_path / "killed")) == ROWS + 1


def test_a_log_in_use_is_not_checked(live: Engine) -> None:
    """Others write into it during the check."""
    file = Path(str(live.url.database))
    flip(wal(file), in_frame(0))
    make_engine(f"sqlite:///{file}").dispose()


def test_acknowledged_writes_are_on_the_disk(live: Engine) -> None:
    with live.connect() as connection:
        assert connection.scalar(text("PRAGMA synchronous")) == 2  # FULL


def spoil_a_page(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[2 * 4096 : 3 * 4096] = b"\xa5" * 4096
    file.write_bytes(content)


def empty_an_index(file: Path) -> None:
    """Every page is valid, but a row is missing in an index."""
    connection = sqlite3.connect(file)
    query = "SELECT rootpage FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'users' LIMIT 1"
    (page,) = connection.execute(query).fetchone()
    connection.close()
    content = bytearray(file.read_bytes())
    content[(page - 1) * 4096 : page * 4096] = struct.pack(">BHHHB", 10, 0, 0, 4096, 0).ljust(4096, b"\0")
    file.write_bytes(content)


@pytest.mark.parametrize(
    "damage",
    [
        spoil_a_page,
        empty_an_index,
        lambda file: file.write_bytes(b"no database" * 1000),
        lambda file: file.write_bytes(file.read_bytes()[:20_000]),
    ],
    ids=["a page", "an index", "all of it", "cut"],
)
def test_a_damaged_database_does_not_start_and_doctor_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: Damage
) -> None:
    settings = make_settings(tmp_path, "")
    platform = open_platform(settings)
    create_user(platform, "ada", "correct horse")
    platform.close()
    monkeypatch.setenv("GRADER_DATA_DIR", str(settings.data_dir))
    assert machine_checks.database().level is Level.OK
    file = settings.data_dir / "grader.sqlite3"
    damage(file)
    with pytest.raises(DatabaseDamaged) as caught:
        open_platform(settings, starting=True)
    assert str(file) in caught.value.message
    assert "grader admin restore" in caught.value.hint
    found = machine_checks.database()
    assert (found.level, found.message) == (Level.MISSING, caught.value.message)


def test_a_check_that_takes_too_long_is_skipped(live: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.records.integrity._STEPS", 1)
    monkeypatch.setattr(limits, "INTEGRITY_SECONDS", -1.0)
    assert "not checked in full" in check_pages(live)
    monkeypatch.undo()
    assert check_pages(live) == "whole"


def test_rows_that_break_a_constraint_are_no_damage(live: Engine) -> None:
    with live.connect() as connection:
        driver = connection.connection.driver_connection
        assert driver is not None
        driver.execute("UPDATE rows SET what = NULL WHERE id = 1")
        driver.execute("PRAGMA writable_schema = ON")
        driver.execute("UPDATE sqlite_schema SET sql = replace(sql, 'what TEXT', 'what TEXT NOT NULL')")
        driver.execute("PRAGMA writable_schema = RESET")
    assert check_pages(live).startswith("whole; 1 rows break a constraint, such as: NULL value in rows.what")


def test_only_the_databases_files_are_made_private(tmp_path: Path) -> None:
    neighbours = [tmp_path / "grader-public", tmp_path / "grader.txt"]
    neighbours[0].mkdir()
    neighbours[1].touch()
    for neighbour in neighbours:
        neighbour.chmod(0o755)
    file = tmp_path / "grader"
    file.touch(0o644)
    make_engine(f"sqlite:///{file}").dispose()
    assert [path.stat().st_mode & 0o777 for path in (file, *neighbours)] == [0o600, 0o755, 0o755]


def test_doctor_creates_no_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADER_DATA_DIR", str(tmp_path / "none"))
    assert machine_checks.database().level is Level.OK
    assert not (tmp_path / "none").exists()


_HOLDER = """
import fcntl, sys
with open(sys.argv[1], "r+b") as file:
    fcntl.lockf(file, fcntl.LOCK_EX, 1, 128)
    print("held")
    sys.stdin.read()
"""


def test_a_start_waits_for_a_running_check(live: Engine, tmp_path: Path) -> None:
    """Otherwise the second one would let SQLite drop what the first one refuses."""
    file = killed(live, tmp_path / "killed")
    flip(wal(file), in_frame(0))
    command = [sys.executable, "-uc", _HOLDER, str(shm(file))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as first:
        assert first.stdin is not None
        assert first.stdout is not None
        first.stdout.readline()
        look = [sys.executable, "-I", integrity.__file__.replace("integrity", "wal"), str(file)]
        with subprocess.Popen(look, stdout=subprocess.PIPE) as second:
            with pytest.raises(subprocess.TimeoutExpired):
                second.wait(0.5)
            first.stdin.close()
            assert second.stdout is not None
            assert b"cannot be read" in second.stdout.read()
