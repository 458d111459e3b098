"""Brings a database to the present tables."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Engine, text

from grader.records.engine import writing_connection

# Any number that nothing else on the server uses: who migrates holds it, so that two starting processes take
# turns.
_POSTGRES_LOCK = 7_205_759_403


def upgrade(engine: Engine) -> None:
    """Run every missing migration in one transaction. Safe to call from several processes at once."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    with writing_connection(engine) as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _POSTGRES_LOCK})
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
