"""`grader up`. Web and workers end first, Redis last."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader import data_folder, logs
from grader.cli.client import Client
from grader.cli.config import environment
from grader.cli.local_platform import made_up_password
from grader.cli.processes import CHECK_SECONDS, ChildProcess, end_all, ended, start_python, stop_on_signal
from grader.cli.terminal import say, tell
from grader.cli.workers import (
    board_child,
    check_device,
    compile_child,
    default_compilers,
    gpu_child,
    gpus_of_up,
)
from grader.errors import Conflict, GraderError, Unreachable
from grader.service.operation.exposure import check_exposure
from grader.settings import Settings

if TYPE_CHECKING:
    from grader.queue.embedded import EmbeddedRedis
    from grader.service.platform import Platform

# Workers first import torch and start boxes, which is slow on a cold disk.
READY_SECONDS = 180.0


@dataclass(frozen=True)
class PlatformPlan:
    """``compilers`` None: as many as suit the GPUs."""

    settings: Settings
    ready_file: Path | None
    compilers: int | None = None

    @property
    def url(self) -> str:
        host = self.settings.host
        host = f"[{host}]" if ":" in host else host
        host = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}.get(host, host)  # noqa: S104 - the address to open
        return f"http://{host}:{self.settings.port}"


def run_platform(plan: PlatformPlan) -> int:
    """Runs until a signal. Raises GraderError if it cannot start."""
    from grader.device_kinds import board_of

    settings = plan.settings
    check_device(settings.device)
    check_exposure(settings.host, settings.box)
    logs.configure(settings.log_level, settings.log_format)
    data_folder.prepare(settings.data_dir)
    with _only_one(settings.data_dir / "up.lock"), stop_on_signal() as stop:
        _open_and_prepare(settings)
        _warn_of_local_boxes(settings)
        gpus, remarks = gpus_of_up(settings)
        for remark in remarks:
            say(remark, "yellow")
        children: list[ChildProcess] = []
        redis = None if settings.redis_url else _Redis(settings)
        try:
            say("Starting web and workers ...", "dim")
            env = environment(settings)
            children.append(ChildProcess("web", lambda: start_python(["-m", "grader.web.server"], env)))
            children.append(board_child(1, settings.device, env))
            children += [gpu_child(gpu, env) for gpu in gpus]
            compilers = default_compilers(len(gpus)) if plan.compilers is None else plan.compilers
            children += [compile_child(number, env) for number in range(1, compilers + 1)]
            _supervise(plan, children, redis, stop, {board_of(gpu) for gpu in gpus})
        finally:
            say("Stopping ...", "dim")
            end_all(children)
            if redis is not None:
                redis.close()
            if plan.ready_file is not None:
                plan.ready_file.unlink(missing_ok=True)
    return 0


def with_free_port(settings: Settings) -> Settings:
    """All children need the same port."""
    if settings.port:
        _refuse_taken(settings)
        return settings
    with socket.create_server((settings.host, 0), family=_family(settings.host)) as probe:
        return settings.model_copy(update={"port": probe.getsockname()[1]})


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _refuse_taken(settings: Settings) -> None:
    try:
        socket.create_server((settings.host, settings.port), family=_family(settings.host)).close()
    except OSError as error:
        raise Conflict(
            f"Cannot listen on {settings.host}:{settings.port}: {error.strerror}.",
            "Choose another port with --port; --port 0 takes any free one.",
        ) from error


class _Redis:
    """After a restart, wake-up jobs come from SQL again."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._running: EmbeddedRedis | None = None
        self._child = ChildProcess("Redis", self._start)

    def _start(self) -> subprocess.Popen[bytes]:
        from grader.queue.embedded import start_redis

        self._running = start_redis(self._settings)
        return self._running.process

    def check(self) -> None:
        self._child.check()

    def close(self) -> None:
        if self._running is not None:
            self._running.close()


def _supervise(
    plan: PlatformPlan,
    children: list[ChildProcess],
    redis: _Redis | None,
    stop: threading.Event,
    boards: set[str],
) -> None:
    began = time.monotonic()
    ready = False
    client = Client(plan.url, seconds=5.0)
    while not stop.wait(CHECK_SECONDS):
        if redis is not None:
            redis.check()
        if not ready and (code := children[0].process.poll()) is not None:
            raise Unreachable(f"The web server {ended(code)} before it answered.", "Its output is above.")
        for child in children:
            child.check()
        if not ready and _healthy(client, boards):
            ready = True
            _announce(plan)
        if not ready and time.monotonic() - began > READY_SECONDS:
            raise Unreachable(
                f"The platform was not ready within {READY_SECONDS:.0f} s.", "Its output is above."
            )


def _healthy(client: Client, boards: set[str]) -> bool:
    """An alert excuses a bad GPU, which must not stop the platform."""
    try:
        answer: Any = client.get("/health")
    except GraderError:
        return False
    if not isinstance(answer, dict) or answer.get("ok") is not True:
        return False
    return bool(answer.get("alerts")) or boards <= set(answer.get("devices", []))


def _announce(plan: PlatformPlan) -> None:
    tell(f"The platform is ready: {plan.url}", "bold green")
    say("Ctrl-C ends it.", "dim")
    if plan.ready_file is not None:
        partial = plan.ready_file.with_name(f"{plan.ready_file.name}.{os.getpid()}")
        partial.write_text(json.dumps({"url": plan.url, "pid": os.getpid()}))
        partial.replace(plan.ready_file)


def _open_and_prepare(settings: Settings) -> None:
    """Also creates the first account."""
    from grader.service.platform import open_platform

    platform = open_platform(settings, starting=True)
    try:
        _first_account(platform)
        _report_broken_challenges(platform)
    finally:
        platform.close()


def _report_broken_challenges(platform: Platform) -> None:
    from grader.service.operation.health import catalogue_alerts

    for alert in catalogue_alerts(platform):
        say(f"WARNING: {alert.text}", "yellow")
        say(alert.hint, "dim")


def _first_account(platform: Platform) -> None:
    from grader.schemas.account import Role
    from grader.service.accounts.accounts import create_user, has_users

    if has_users(platform):
        return
    password = made_up_password()
    create_user(platform, "staff", password, Role.ADMIN)
    tell(f"First start: sign in as 'staff' with the password {password} (shown this once).", "bold")
    say("More accounts: grader user add NAME", "dim")


def _warn_of_local_boxes(settings: Settings) -> None:
    kind: str = settings.box
    why = ""
    if kind == "auto":
        from grader.sandbox.choose import best_kind

        kind, why = best_kind()
    if kind == "local":
        say(
            f"WARNING: submissions run as plain processes of this machine ('local' boxes). {why}",
            "bold yellow",
        )
        say("They can read and change everything that you can. Run only code that you trust.", "yellow")


@contextmanager
def _only_one(lock: Path) -> Iterator[None]:
    """Two platforms must not share the data folder. Raises Conflict."""
    import fcntl

    with lock.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise Conflict(
                f"A platform already runs in {lock.parent}.",
                "Stop it, or set GRADER_DATA_DIR to another folder.",
            ) from error
        yield
