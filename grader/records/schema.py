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
    """A later grader upgraded the database; this one would break it."""

    code = "schema_too_new"
    status = 503


@dataclass(frozen=True)
class MigrationStep:
    revision: str
    about: str


def alembic_config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    return config


@functools.cache
def steps() -> tuple[MigrationStep, ...]:
    scripts = ScriptDirectory.from_config(alembic_config()).walk_revisions()
    return tuple(
        reversed([MigrationStep(script.revision, (script.doc or "").rstrip(".")) for script in scripts])
    )


def head() -> str:
    return steps()[-1].revision


def revision_of(connection: Connection) -> str | None:
    """None if it has no tables of ours."""
    return MigrationContext.configure(connection).get_current_revision()


def missing(revision: str | None) -> list[MigrationStep]:
    """Raises SchemaTooNew."""
    known = [step.revision for step in steps()]
    if revision is None:
        return list(steps())
    if revision not in known:
        raise SchemaTooNew(
            f"The database has revision {revision}, but the last one that this grader knows is {known[-1]}.",
            "Run the grader that upgraded it, or a later one; or restore a backup from before the upgrade.",
        )
    return list(steps()[known.index(revision) + 1 :])


def missing_of(engine: Engine) -> list[MigrationStep]:
    """Raises SchemaTooNew."""
    with engine.connect() as connection:
        return missing(revision_of(connection))


# Any unused number: two starting processes take turns.
_POSTGRES_LOCK = 7_205_759_403


def upgrade(engine: Engine, revision: str = "head") -> None:
    """In one transaction, also if several processes call it. Raises SchemaTooNew, and then changes nothing."""
    with writing_connection(engine) as connection:
        alone(connection)
        missing(revision_of(connection))
        migrate(connection, revision)


def alone(connection: Connection) -> None:
    """Until the transaction ends, nobody else migrates or gives up waiting."""
    if connection.dialect.name == "postgresql":
        connection.execute(text(PATIENT))
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _POSTGRES_LOCK})


def migrate(connection: Connection, revision: str) -> None:
    """The transaction is locked by ``alone``."""
    config = alembic_config()
    config.attributes["connection"] = connection
    command.upgrade(config, revision)
