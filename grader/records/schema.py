"""Which tables a database has, which this grader knows, and how it gets them."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text

from grader.errors import GraderError
from grader.records.engine import writing_connection
from grader.records.postgres import PATIENT


class SchemaTooNew(GraderError):
    """The database was brought up to date by a later grader; this one would break it."""

    code = "schema_too_new"
    status = 503


@dataclass(frozen=True)
class MigrationStep:
    """A migration: its revision, and what it is about."""

    revision: str
    about: str


def alembic_config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    return config


@functools.cache
def steps() -> tuple[MigrationStep, ...]:
    """Every migration that this grader knows, the first one first."""
    scripts = ScriptDirectory.from_config(alembic_config()).walk_revisions()
    return tuple(reversed([MigrationStep(it.revision, (it.doc or "").rstrip(".")) for it in scripts]))


def head() -> str:
    return steps()[-1].revision


def revision_of(connection: Connection) -> str | None:
    """The revision of a database; None where it has no tables of ours."""
    return MigrationContext.configure(connection).get_current_revision()


def missing(revision: str | None) -> list[MigrationStep]:
    """What an upgrade from there would do. Raises SchemaTooNew."""
    known = [step.revision for step in steps()]
    if revision is None:
        return list(steps())
    if revision not in known:
        raise SchemaTooNew(
            f"The database has tables of revision {revision}; this grader knows none after {known[-1]}.",
            "Run the grader that brought it there, or a later one; or restore a backup from before.",
        )
    return list(steps()[known.index(revision) + 1 :])


def missing_of(engine: Engine) -> list[MigrationStep]:
    """The same of a database. Raises SchemaTooNew."""
    with engine.connect() as connection:
        return missing(revision_of(connection))


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
