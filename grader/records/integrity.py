"""Checks a SQLite database: its log before it is opened, its pages when a platform starts."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from sqlalchemy import Engine
from sqlalchemy.exc import DatabaseError

from grader import limits
from grader.errors import GraderError
from grader.logs import get_logger

log = get_logger(__name__)

_CORRUPT = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
# SQLite also reports these for rows changed by hand.
_ODD_ROWS = ("NULL value in ", "CHECK constraint failed in ")
# Between two readings of the clock.
_STEPS = 100_000
_LOG_SECONDS = 60.0


class DatabaseDamaged(GraderError):
    """The database's file is damaged. Nothing is served from it, and nothing was changed."""

    code = "database_damaged"
    status = 503

    def __init__(self, file: Path, what: str) -> None:
        super().__init__(
            f"The database {file} is damaged: {what}.",
            f"Nothing was changed. Stop web and workers, move {file.name}* to a safe place, and restore the last "
            "backup: grader admin restore FILE. docs/troubleshooting.md describes what else you can try.",
        )


def sqlite_file(engine: Engine) -> Path | None:
    """None if it is not SQLite."""
    name = engine.url.database
    if engine.dialect.name != "sqlite" or not name or name == ":memory:" or name.startswith("file:"):
        return None
    return Path(name)


def check_log(file: Path) -> None:
    """Run before the first process opens the file: SQLite drops what it cannot read. Raises DatabaseDamaged."""
    if not any(file.with_name(f"{file.name}-{kind}").exists() for kind in ("wal", "shm")):
        return
    program = [sys.executable, "-I", str(Path(__file__).with_name("wal.py")), str(file.absolute())]
    try:
        ran = subprocess.run(program, capture_output=True, timeout=_LOG_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        log.warning("database_log_not_checked", file=str(file), error=str(error))
        return
    if found := json.loads(ran.stdout):
        raise DatabaseDamaged(file, found)


def check_pages(engine: Engine) -> str:
    """For at most ``limits.INTEGRITY_SECONDS``; returns a description. Raises DatabaseDamaged."""
    file = sqlite_file(engine)
    if file is None:
        return "checked by its server"
    kind = "integrity_check" if file.stat().st_size <= limits.INTEGRITY_BYTES else "quick_check"
    until = time.monotonic() + limits.INTEGRITY_SECONDS
    try:
        with engine.connect() as connection:
            driver = connection.connection.driver_connection
            assert driver is not None
            driver.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
            try:
                rows = [str(said) for (said,) in connection.exec_driver_sql(f"PRAGMA {kind}(3)")]
            finally:
                driver.set_progress_handler(None, 0)
    except (DatabaseError, sqlite3.DatabaseError) as error:
        if _code(error) == sqlite3.SQLITE_INTERRUPT:
            log.warning("database_check_unfinished", file=str(file), seconds=limits.INTEGRITY_SECONDS)
            return f"not checked in full: no damage found in {limits.INTEGRITY_SECONDS:.0f} s"
        refuse_damaged(engine, error)
        raise
    rows = [" ".join(said.split()) for said in rows if said != "ok"]
    if damage := [said for said in rows if not said.startswith(_ODD_ROWS)]:
        raise DatabaseDamaged(file, "; ".join(damage)[:500])
    if rows:
        log.warning("database_rows_break_constraints", file=str(file), rows=rows)
        return f"whole; {len(rows)} rows break a constraint, such as: {rows[0]}"
    return "whole"


def refuse_damaged(engine: Engine, error: BaseException) -> None:
    file = sqlite_file(engine)
    if file is not None and _code(error) in _CORRUPT:
        raise DatabaseDamaged(file, str(getattr(error, "orig", None) or error)) from error


def _code(error: BaseException) -> int | None:
    code = getattr(getattr(error, "orig", None) or error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF
