"""A server that is slow, locked or gone causes an error within seconds, never a hang."""

from __future__ import annotations

import math
import time
from typing import Any

from sqlalchemy import URL, Engine, create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.pool import ConnectionPoolEntry

# Per address of a host name.
_CONNECT_SECONDS = 3
# Unacknowledged data for this long means a cut cable. Shorter than a lease, so the worker still holds its
# submission.
_UNACKNOWLEDGED_MS = 5_000
# Finds a cut cable after 4 + 3 * 2 s of waiting.
_KEEPALIVE = {
    "keepalives": 1,
    "keepalives_idle": 4,
    "keepalives_interval": 2,
    "keepalives_count": 3,
}
# Less than the 60 s of the web's watchdog.
_STATEMENT_MS = 30_000
_LOCK_MS = 15_000
# The rows of a frozen process become free for the worker that takes over.
_IDLE_MS = 15_000
# Web: 8 threads per process; more than 15 at once mean trouble.
_POOL_SIZE, _POOL_OVERFLOW, _POOL_SECONDS = 8, 7, 10.0
# A connection is assumed to live for this long.
_USED, _FRESH_SECONDS = "used", 1.0
# For one transaction: a migration may rewrite a million rows while other processes wait.
PATIENT = (
    "SELECT set_config(name, '30min', true) FROM unnest(ARRAY['statement_timeout', 'lock_timeout', "
    "'idle_in_transaction_session_timeout']) AS name"
)


def postgres_engine(url: URL) -> Engine:
    """Parameters in the query of ``url`` (``connect_timeout``, ``sslmode``, ...) take precedence.

    A connection that died in the pool is replaced, unless it was idle for less than a second.
    """
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    engine = create_engine(
        url,
        # Autocommit, except for writers: BEGIN and ROLLBACK were more than half of all statements of pages.
        isolation_level="AUTOCOMMIT",
        connect_args={name: value for name, value in _defaults().items() if name not in url.query},
        hide_parameters=True,  # they may be sources and password hashes, and error texts are logged
        pool_size=_POOL_SIZE,
        max_overflow=_POOL_OVERFLOW,
        pool_timeout=_POOL_SECONDS,
    )
    _ping_idle(engine)
    return engine


def _ping_idle(engine: Engine) -> None:
    """``pool_pre_ping`` tests at each use, which is a third of a busy web's statements."""

    @event.listens_for(engine, "checkin")
    def note_use(_connection: object, record: ConnectionPoolEntry) -> None:
        record.info[_USED] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def ping(connection: DBAPIConnection, record: ConnectionPoolEntry, _proxy: object) -> None:
        if time.monotonic() - record.info.get(_USED, -math.inf) < _FRESH_SECONDS:
            return
        try:
            engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error as error:
            raise InvalidatePoolError(str(error)) from error


def _defaults() -> dict[str, Any]:
    limits = {
        "statement_timeout": _STATEMENT_MS,
        "lock_timeout": _LOCK_MS,
        "idle_in_transaction_session_timeout": _IDLE_MS,
        # The server's end: a lost client's locks are released.
        "tcp_user_timeout": _UNACKNOWLEDGED_MS * 2,
        "tcp_keepalives_idle": _KEEPALIVE["keepalives_idle"],
        "tcp_keepalives_interval": _KEEPALIVE["keepalives_interval"],
        "tcp_keepalives_count": _KEEPALIVE["keepalives_count"],
    }
    return {
        "connect_timeout": _CONNECT_SECONDS,
        "tcp_user_timeout": _UNACKNOWLEDGED_MS,
        **_KEEPALIVE,
        "application_name": "grader",
        "options": " ".join(f"-c {name}={value}" for name, value in limits.items()),
    }
