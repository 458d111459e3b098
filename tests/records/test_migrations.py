from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine, inspect, text
from sqlalchemy.exc import OperationalError

from grader.records.engine import Sessions, make_engine, writing
from grader.records.models import Base, UserRow, utcnow
from grader.records.schema import upgrade
from tests.records.rows import add_user


def test_migrations_produce_the_models_schema(engine: Engine) -> None:
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []


def test_upgrading_again_changes_nothing(engine: Engine, sessions: Sessions) -> None:
    add_user(sessions)
    upgrade(engine)
    with sessions() as session:
        assert session.query(UserRow).count() == 1


def test_processes_that_start_together_migrate_once(empty_url: str) -> None:
    engines = [make_engine(empty_url) for _ in range(4)]
    failures: list[Exception] = []

    def start(engine: Engine) -> None:
        try:
            upgrade(engine)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=start, args=[engine]) for engine in engines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tables = inspect(engines[0]).get_table_names()
    for engine in engines:
        engine.dispose()
    assert failures == []
    assert "submissions" in tables


def test_a_new_file_can_be_opened_by_many_at_once(tmp_path: Path) -> None:
    # One opening in a few hundred hit another's switch to WAL, hence 60 files, each opened by eight threads.
    for number in range(60):
        engines = [make_engine(f"sqlite:///{tmp_path}/{number}.sqlite3") for _ in range(8)]
        together = threading.Barrier(len(engines))

        def mode(engine: Engine, together: threading.Barrier = together) -> str:
            together.wait()
            with engine.connect() as connection:
                return str(connection.scalar(text("PRAGMA journal_mode")))

        with ThreadPoolExecutor(len(engines)) as pool:
            assert set(pool.map(mode, engines)) == {"wal"}
        for engine in engines:
            engine.dispose()


def test_a_file_that_stays_locked_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.records.engine._BUSY_MS", 50)
    path = tmp_path / "locked.sqlite3"
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    engine = make_engine(f"sqlite:///{path}")
    with pytest.raises(OperationalError, match="database is locked"):
        engine.connect()
    engine.dispose()
    holder.close()


def test_sqlite_keeps_its_promises(tmp_path: object) -> None:
    engine = make_engine(f"sqlite:///{tmp_path}/new/folder/db.sqlite3")
    with engine.connect() as connection:
        assert connection.scalar(text("PRAGMA journal_mode")) == "wal"
        assert connection.scalar(text("PRAGMA foreign_keys")) == 1
    engine.dispose()


def test_times_come_back_in_utc(sessions: Sessions) -> None:
    before = utcnow()
    user = add_user(sessions)
    with sessions() as session:
        created = session.get_one(UserRow, user).created_at
    assert created.tzinfo is UTC
    assert before <= created <= utcnow()


def test_a_time_without_a_zone_is_refused(sessions: Sessions) -> None:
    row = UserRow(name="x", name_key="x", password_hash="-", role="student", created_at=datetime(2024, 1, 1))
    with pytest.raises(Exception, match="without a zone"), writing(sessions) as session:
        session.add(row)
