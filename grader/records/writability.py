"""Whether the database accepts writes. Load balancers ask often."""

from __future__ import annotations

import shutil
import sqlite3
import threading
import time

from sqlalchemy import Engine, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from grader import limits
from grader.records.engine import hurried_connection
from grader.records.integrity import sqlite_file

_WRITE = text("UPDATE alembic_version SET version_num = version_num")
_PATIENCE_MS = 2_000
# lock_not_available, query_canceled
_POSTGRES_BUSY = ("55P03", "57014")


class Writability:
    """Checks free space each time, and tries a write at intervals."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next = 0.0
        self._trouble = ""

    def trouble(self, engine: Engine) -> str:
        """Empty if writes work, or the database is only busy."""
        if fault := _full(engine):
            return fault
        # While another thread tries, its last result is used.
        if time.monotonic() >= self._next and self._lock.acquire(blocking=False):
            try:
                self._trouble = _try(engine)
                self._next = time.monotonic() + limits.WRITE_PROBE_SECONDS
            finally:
                self._lock.release()
        return self._trouble


def _full(engine: Engine) -> str:
    file = sqlite_file(engine)
    try:
        free = shutil.disk_usage(file.parent).free if file is not None else limits.FREE_BYTES
    except OSError:
        return "the folder of the database is gone"
    return "the disk of the database is full" if free < limits.FREE_BYTES else ""


def _try(engine: Engine) -> str:
    try:
        with hurried_connection(engine, _PATIENCE_MS) as connection:
            connection.execute(_WRITE)
    except PoolTimeout:
        return ""
    except SQLAlchemyError as error:
        return "" if _busy(error) else "the database takes no writes: its disk may be full or read-only"
    return ""


def _busy(error: SQLAlchemyError) -> bool:
    """Elsewhere requests would wait, too."""
    cause = getattr(error, "orig", None)
    code = getattr(cause, "sqlite_errorcode", None)
    if code is not None:
        return (code & 0xFF) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
    return getattr(cause, "sqlstate", None) in _POSTGRES_BUSY
