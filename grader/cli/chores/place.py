"""Where chores are done: the platform or the bare database that the environment names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from grader.cli.configuration import load_settings

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from grader.service.platform import Platform
    from grader.settings import Settings


@contextmanager
def here() -> Iterator[Platform]:
    """The platform, its tables brought up to date."""
    from grader.service.platform import open_platform

    platform = open_platform(load_settings())
    try:
        yield platform
    finally:
        platform.close()


@contextmanager
def database() -> Iterator[tuple[Settings, Engine]]:
    """The database as it is: not brought up to date, and without a course."""
    from grader import logs
    from grader.records.engine import make_engine

    settings = load_settings()
    logs.configure(settings.log_level, settings.log_format)
    settings.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    engine = make_engine(settings.sql_url)
    try:
        yield settings, engine
    finally:
        engine.dispose()
