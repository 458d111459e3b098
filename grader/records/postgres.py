"""How connections to PostgreSQL are opened: a server that is slow, locked or gone is an error within seconds, never a
hang."""

from __future__ import annotations

import math
import time
from typing import Any

from sqlalchemy import URL, Engine, create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.pool import ConnectionPoolEntry

# A server on the same continent answers within a fraction of a second; for each address of a host name.
_CONNECT_SECONDS = 3
# What is not acknowledged for this many seconds went into a cut cable. Less than a lease, so that a worker
# learns of it while its submission is still its own.
_UNACKNOWLEDGED_MS = 5_000
# A connection that waits for an answer over a cut cable has nothing to send: the probes notice, after 4 + 3 * 2 s.
_KEEPALIVE = {
    "keepalives": 1,
    "keepalives_idle": 4,
    "keepalives_interval": 2,
    "keepalives_count": 3,
}
# The slowest query of a page takes a fraction of a second; what takes this long never ends. Below the 60 s after which
# the web's own watchdog would kill the process.
_STATEMENT_MS = 30_000
# As long as a writer waits for SQLite's lock.
_LOCK_MS = 15_000
# A transaction of ours is ended within milliseconds. One whose process is frozen or cut off must not keep its rows
# locked from the worker that takes over.
_IDLE_MS = 15_000
# Web: 8 threads to a process, each of which finds one open; a worker: judge, heart, sweeper. More than 15 at once are
# in trouble and wait.
_POOL_SIZE, _POOL_OVERFLOW, _POOL_SECONDS = 8, 7, 10.0
# Where a connection says when it was last used, and for how long after that it is taken to live.
_USED, _FRESH_SECONDS = "used", 1.0
# For one transaction, in place of the timeouts above: a migration may rewrite a table of a million rows, and other
# processes that start meanwhile wait for it.
PATIENT = (
    "SELECT set_config(name, '30min', true) FROM unnest(ARRAY['statement_timeout', 'lock_timeout', "
    "'idle_in_transaction_session_timeout']) AS name"
)


def postgres_engine(url: URL) -> Engine:
    """An engine whose connections give up as said above. What ``url`` says in its query (``connect_timeout``,
    ``sslmode``, ``options``, ...) goes before.

    A connection that died while it lay in the pool is replaced before it is used, unless it lay for less than a
    second.
    """
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    engine = create_engine(
        url,
        # Each query by itself, but for what writes (``engine.writing``). Within READ COMMITTED queries that only read
        # see no less of each other's times than this; and BEGIN and ROLLBACK were more than half of what pages asked.
        isolation_level="AUTOCOMMIT",
        connect_args={name: value for name, value in _defaults().items() if name not in url.query},
        hide_parameters=True,  # they are sources and password hashes, and an error's text is logged
        pool_size=_POOL_SIZE,
        max_overflow=_POOL_OVERFLOW,
        pool_timeout=_POOL_SECONDS,
    )
    _ping_what_lay(engine)
    return engine


def _ping_what_lay(engine: Engine) -> None:
    """Before its use, and once for all that it lay in the pool: SQLAlchemy's own ``pool_pre_ping`` asks at each use,
    which is a third of what a busy web asks its database.
    """

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
            raise InvalidatePoolError(str(error)) from error  # the pool opens another, and asks again


def _defaults() -> dict[str, Any]:
    limits = {
        "statement_timeout": _STATEMENT_MS,
        "lock_timeout": _LOCK_MS,
        "idle_in_transaction_session_timeout": _IDLE_MS,
        # The server's end of a cut cable: rows that a lost client had locked are free again as soon.
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
