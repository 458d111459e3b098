"""The platform here, for commands without server and token."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from grader.cli.config import load_settings

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from grader.service.platform import Platform
    from grader.settings import Settings


@contextmanager
def here() -> Iterator[Platform]:
    """Upgrades tables. Raises DatabaseDamaged, also for errors inside the caller's block."""
    from grader.cli.terminal import say
    from grader.service.platform import open_platform

    settings = load_settings()
    if not settings.database_url and not (settings.data_dir / "grader.sqlite3").exists():
        say(f"There is no platform in {settings.data_dir} yet; creating an empty one.", "yellow")
        say("GRADER_DATA_DIR names another folder.", "dim")
    platform = open_platform(settings)
    try:
        with _report_damage(platform.engine):
            yield platform
    finally:
        platform.close()


@contextmanager
def database() -> Iterator[tuple[Settings, Engine]]:
    """Without migrations and catalogue. Raises DatabaseDamaged."""
    from grader import data_folder, logs
    from grader.records.engine import make_engine

    settings = load_settings()
    logs.configure(settings.log_level, settings.log_format)
    data_folder.prepare(settings.data_dir)
    engine = make_engine(settings.sql_url)
    try:
        with _report_damage(engine):
            yield settings, engine
    finally:
        engine.dispose()


@contextmanager
def _report_damage(engine: Engine) -> Iterator[None]:
    import sqlite3

    from sqlalchemy.exc import DatabaseError

    from grader.records.integrity import refuse_damaged

    try:
        yield
    except (DatabaseError, sqlite3.DatabaseError) as error:
        refuse_damaged(engine, error)
        raise


def made_up_password() -> str:
    """It has 96 random bits."""
    return secrets.token_urlsafe(12)
