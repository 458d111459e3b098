"""Which tables a database has, and which this grader knows."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine

from grader.errors import GraderError


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
