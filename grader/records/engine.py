"""SQLite in WAL mode by default, or PostgreSQL with the same code."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    CursorResult,
    Engine,
    Executable,
    create_engine,
    event,
    func,
    make_url,
    select,
    text,
)
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session, sessionmaker

from grader import data_folder
from grader.records.integrity import check_log, sqlite_file
from grader.records.postgres import postgres_engine

# Writers hold SQLite's lock for milliseconds.
_BUSY_MS = 15_000
_SWITCH_SECONDS = 0.005
_WRITING = "grader_writing"
# The web's threads per process: with fewer, requests would open connections.
_POOL_SIZE = 8

Sessions = sessionmaker[Session]

# The request itself is fine.
AWAY = (OperationalError, InterfaceError, PoolTimeout)


def make_engine(url: str) -> Engine:
    """Makes a missing SQLite file. Raises DatabaseDamaged if SQLite would drop committed data."""
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite":
        return postgres_engine(parsed)
    # Parameters may be sources and password hashes, and error texts are logged.
    engine = create_engine(parsed, hide_parameters=True, pool_size=_POOL_SIZE)
    if (file := sqlite_file(engine)) is not None:
        _prepare_file(file)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_file(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # SQLite would make a file that others can read, and its log and index get the file's mode.
    with suppress(OSError):
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    for kind in ("", "-wal", "-shm", "-journal"):
        data_folder.close(file.with_name(f"{file.name}{kind}"))
    check_log(file)


def _prepare_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # _begin_sqlite begins transactions
    # FULL: acknowledged data survives a power cut.
    for pragma in (f"busy_timeout = {_BUSY_MS}", "foreign_keys = ON", "synchronous = FULL"):
        connection.execute(f"PRAGMA {pragma}")
    _switch_to_wal(connection)


def _switch_to_wal(connection: Any) -> None:
    # SQLite's busy timeout does not cover this switch: of several processes that open a new file, all but one
    # would get "locked" at once.
    deadline = time.monotonic() + _BUSY_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
        time.sleep(_SWITCH_SECONDS)


def _begin_sqlite(connection: Connection) -> None:
    # A transaction that reads first would fail instead of waiting for the lock.
    writing = connection.get_execution_options().get(_WRITING, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


def make_sessions(engine: Engine) -> Sessions:
    return sessionmaker(engine, expire_on_commit=False)


@contextmanager
def writing(sessions: Sessions) -> Iterator[Session]:
    with sessions() as session, session.begin():
        session.connection(execution_options=_to_write(session.get_bind().dialect.name))
        yield session


@contextmanager
def reading_on(sessions: Sessions) -> Iterator[Session]:
    """A consistent view for several reads."""
    with sessions() as session, session.begin():
        if session.get_bind().dialect.name == "postgresql":
            session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
        yield session


@contextmanager
def writing_connection(engine: Engine) -> Iterator[Connection]:
    """For migrations."""
    options = _to_write(engine.dialect.name)
    with engine.connect().execution_options(**options) as connection, connection.begin():
        yield connection


@contextmanager
def hurried_connection(engine: Engine, wait_ms: int) -> Iterator[Connection]:
    """Waits at most ``wait_ms`` for a lock."""
    sqlite = engine.dialect.name == "sqlite"
    with engine.connect().execution_options(**_to_write(engine.dialect.name)) as connection:
        driver: Any = connection.connection.driver_connection
        if sqlite:
            driver.execute(f"PRAGMA busy_timeout = {wait_ms}")
        try:
            with connection.begin():
                if not sqlite:
                    for name in ("lock_timeout", "statement_timeout"):
                        connection.execute(text(f"SET LOCAL {name} = {wait_ms}"))
                yield connection
        finally:
            if sqlite:
                driver.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")


def _to_write(database: str) -> dict[str, Any]:
    # Otherwise connections to PostgreSQL autocommit.
    return {_WRITING: True, **({"isolation_level": "READ COMMITTED"} if database == "postgresql" else {})}


def changed(session: Session, statement: Executable) -> int:
    result = session.execute(statement)
    assert isinstance(result, CursorResult)
    return result.rowcount


def moment(session: Session) -> datetime | ColumnElement[datetime]:
    return func.clock_timestamp() if session.get_bind().dialect.name == "postgresql" else datetime.now(UTC)


def clock(session: Session) -> datetime:
    """The database server's time in UTC: hosts may differ by more than a lease."""
    if session.get_bind().dialect.name == "postgresql":
        # The transaction's begin may have waited for a lock.
        now: datetime = session.execute(select(func.clock_timestamp())).scalar_one()
        return now.astimezone(UTC)
    return datetime.now(UTC)
