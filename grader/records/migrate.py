"""Brings a database to the present tables."""

from __future__ import annotations

from alembic import command
from sqlalchemy import Connection, Engine, text

from grader.records.engine import writing_connection
from grader.records.postgres import PATIENT
from grader.records.schema import alembic_config, missing, revision_of

# Any number that nothing else on the server uses: who migrates holds it, so that two starting processes take
# turns.
_POSTGRES_LOCK = 7_205_759_403


def upgrade(engine: Engine, revision: str = "head") -> None:
    """Run every missing migration, up to ``revision``, in one transaction. Safe to call from several processes at once.

    Raises SchemaTooNew, and changes nothing then.
    """
    with writing_connection(engine) as connection:
        alone(connection)
        missing(revision_of(connection))
        migrate(connection, revision)


def alone(connection: Connection) -> None:
    """Until its transaction ends, nobody else migrates, and nothing gives up waiting."""
    if connection.dialect.name == "postgresql":
        connection.execute(text(PATIENT))
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _POSTGRES_LOCK})


def migrate(connection: Connection, revision: str) -> None:
    """The same within a transaction that writes and is already begun, with nobody else at it."""
    config = alembic_config()
    config.attributes["connection"] = connection
    command.upgrade(config, revision)
