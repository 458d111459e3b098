"""The processes of a platform: what `grader up` and `grader worker` start, restart when it dies, and end together.

Every child gets a session of its own, so that Ctrl-C reaches only this process, which then ends them in order: web and
workers first, Redis last. On Linux a child also ends by itself when this process is killed.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from grader import data_folder, logs
from grader.cli.client import Client
from grader.cli.config import environment
from grader.cli.local_platform import made_up_password
from grader.cli.terminal import put_table, safe, say, tell
from grader.device_kinds import kind_of
from grader.errors import EXIT_OUR_FAILURE, BadRequest, Conflict, GraderError, Unreachable
from grader.queue.gpu_lock import held, holder, lock_folder
from grader.queue.gpus import ALL, NONE, chosen_gpus
from grader.queue.stop_flag import StopFlag
from grader.service.operation.exposure import check_exposure
from grader.settings import Settings

if TYPE_CHECKING:
    from grader.queue.embedded import EmbeddedRedis
    from grader.sandbox.gpu import Gpu
    from grader.service.platform import Platform


# Seconds between two checks of the children.
CHECK_SECONDS = 0.2
# A worker that is judging releases its submission first; longer than this is a hang.
STOP_SECONDS = 10.0
# The pause doubles with each death, so that a child that cannot run floods neither the log nor the machine.
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0
# After this long a child counts as healthy, and its next restart is quick again.
HEALTHY_SECONDS = 60.0


class ChildProcess:
    """One process that should always run."""

    def __init__(self, name: str, start: Callable[[], subprocess.Popen[bytes]]) -> None:
        self.name = name
        self._start = start
        self._pause = FIRST_PAUSE_SECONDS
        self._again_at: float | None = None
        self.restarts = 0
        self._begin()

    def _begin(self) -> None:
        self.process = self._start()
        self._started = time.monotonic()
        self._again_at = None

    def check(self) -> None:
        """Restart the process, after a pause, if it died."""
        now = time.monotonic()
        if self._again_at is not None:
            if now >= self._again_at:
                self._begin_again()
            return
        if self.process.poll() is None:
            return
        if now - self._started > HEALTHY_SECONDS:
            self._pause = FIRST_PAUSE_SECONDS
        say(f"{self.name} {ended(self.process.returncode)}; restarting in {self._pause:g} s.", "yellow")
        self._again_at = now + self._pause
        self._pause = min(2 * self._pause, LONGEST_PAUSE_SECONDS)

    def _begin_again(self) -> None:
        """A child that cannot start now, for instance on a full disk, must not end the others."""
        try:
            self._begin()
            self.restarts += 1
        except (GraderError, OSError) as error:
            say(f"{self.name} cannot be started: {error} Trying again in {self._pause:g} s.", "yellow")
            self._again_at = time.monotonic() + self._pause
            self._pause = min(2 * self._pause, LONGEST_PAUSE_SECONDS)

    def ask_to_end(self) -> None:
        self._again_at = None
        if self.process.poll() is None:
            self.process.terminate()

    def end(self, deadline: float) -> None:
        """Wait for its end until ``deadline`` (monotonic), then kill it."""
        try:
            self.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            say(f"{self.name} does not end; killing it.", "yellow")
            self.process.kill()
            self.process.wait()


def start_python(arguments: Sequence[str], env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start this Python with ``arguments``. On Linux it ends when this process dies."""
    command = [sys.executable, *arguments]
    if sys.platform.startswith("linux"):
        from grader.queue import parent_death

        command = [sys.executable, "-I", str(Path(parent_death.__file__)), str(os.getpid()), *command]
    return subprocess.Popen(command, env=dict(env), stdin=subprocess.DEVNULL, start_new_session=True)


def end_all(children: Sequence[ChildProcess]) -> None:
    """Ask all to end, give them ``STOP_SECONDS`` together, then kill."""
    for child in children:
        child.ask_to_end()
    deadline = time.monotonic() + STOP_SECONDS
    for child in children:
        child.end(deadline)


def ended(code: int) -> str:
    """``was ended by signal 9``, ``ended with exit code 1``."""
    return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"


@contextmanager
def stop_on_signal() -> Iterator[threading.Event]:
    """A flag that SIGINT and SIGTERM set. The previous handlers are restored afterwards."""
    stop = StopFlag()
    kinds = (signal.SIGINT, signal.SIGTERM)
    previous = [signal.signal(kind, lambda *_: stop.set()) for kind in kinds]
    try:
        yield stop
    finally:
        for kind, handler in zip(kinds, previous, strict=True):
            signal.signal(kind, handler)


# Distinguishes this process's workers from those of an earlier process with the same number.
_RUN = secrets.token_hex(2)
_SCALES = ((1e12, "T"), (1e9, "G"), (1e6, "M"))


@dataclass(frozen=True)
class WorkerSet:
    """The workers to start: one for each GPU that ``gpus`` names, or without any one for the board ``device`` (empty:
    none), and ``compilers`` workers that only compile."""

    device: str
    gpus: str
    compilers: int = 0


def run_workers(settings: Settings, wanted: WorkerSet, name: str | None, burst: bool) -> int:
    """Run until ended: a single worker in this process, several in a process each."""
    from grader.queue.worker import run_compile_worker, run_worker

    gpus = chosen_gpus(wanted.gpus) if wanted.gpus not in ("", NONE) else []
    if not gpus and wanted.device:
        check_device(wanted.device)
    boards = len(gpus) or int(bool(wanted.device))
    if boards + wanted.compilers > 1:
        return _run_all(settings, gpus, wanted, name, burst)
    if boards:
        run_worker(settings, name=name, burst=burst, gpu=gpus[0] if gpus else None)
    else:
        run_compile_worker(settings, name=name, burst=burst)
    return 0


def check_device(device: str) -> None:
    """Raises UnknownDevice for a board of no kind, BadRequest for one that only a GPU can serve."""
    if kind_of(device).gpus is not None:
        raise BadRequest(
            f"A worker of the board '{device}' needs its GPU.",
            "Name the GPU: grader worker --gpu N, or --gpu all. Its model names the board.",
        )


def _run_all(settings: Settings, gpus: list[Gpu], wanted: WorkerSet, name: str | None, burst: bool) -> int:
    """One child each, restarted when it dies, all ended together."""
    for gpu in gpus:
        if (pid := holder(gpu.uuid, lock_folder(settings))) is not None:
            raise held(gpu.uuid, pid)
    env = environment(settings)

    def options(part: str) -> list[str]:
        return [*(["--burst"] if burst else []), *(["--name", f"{name}-{part}"] if name else [])]

    with stop_on_signal() as stop:
        children = [gpu_child(gpu, env, *options(str(gpu.index))) for gpu in gpus]
        if not gpus and wanted.device:
            children.append(board_child(1, wanted.device, env, *options(wanted.device)))
        children += [
            compile_child(number, env, *options(f"compile-{number}"))
            for number in range(1, wanted.compilers + 1)
        ]
        try:
            while not stop.wait(CHECK_SECONDS):
                if burst and all(child.process.poll() is not None for child in children):
                    return int(any(child.process.returncode for child in children)) * EXIT_OUR_FAILURE
                if not burst:
                    for child in children:
                        child.check()
        finally:
            end_all(children)
    return 0


def gpu_child(gpu: Gpu, env: Mapping[str, str], *options: str) -> ChildProcess:
    """A worker of that GPU."""
    return _child(f"worker of GPU {gpu.index}", env, "--gpu", gpu.uuid, *options)


def board_child(number: int, device: str, env: Mapping[str, str], *options: str) -> ChildProcess:
    """A worker of a board without a GPU."""
    return _child(
        f"worker {number}", env, "--device", device, "--name", _name(f"{device}-{number}"), *options
    )


def compile_child(number: int, env: Mapping[str, str], *options: str) -> ChildProcess:
    """A worker that only compiles."""
    name = _name(f"compile-{number}")
    return _child(f"compile worker {number}", env, "--gpu", NONE, "--compile", "1", "--name", name, *options)


def _name(part: str) -> str:
    """The same at each restart of the child, so that a drained worker stays drained. A worker of a GPU is named by its
    GPU.
    """
    return f"{socket.gethostname()}-{os.getpid()}-{_RUN}-{part}"


def _child(called: str, env: Mapping[str, str], *options: str) -> ChildProcess:
    command = ["-m", "grader.cli.main", "worker", *options]
    return ChildProcess(called, lambda: start_python(command, env))


def default_compilers(gpus: int) -> int:
    """How many workers compile for ``gpus`` GPUs: compiling takes about as long as judging, and one core."""
    from grader.sandbox.processor import background_cores
    from grader.sandbox.toolkit import nvcc_version

    if not gpus or nvcc_version() is None:
        return 0
    return max(1, min(2 * gpus, len(background_cores())))


def gpus_of_up(settings: Settings) -> tuple[list[Gpu], list[str]]:
    """The GPUs that `grader up` serves (by default all), and a remark for each that another platform's worker holds.
    Raises BadRequest or BoxUnavailable where a named GPU does not exist.
    """
    from grader.sandbox.gpu import find_gpus

    if settings.gpu == NONE:
        return [], []
    found = chosen_gpus(settings.gpu) if settings.gpu else find_gpus()
    free, remarks = [], []
    for gpu in found:
        pid = holder(gpu.uuid, lock_folder(settings))
        if pid is None:
            free.append(gpu)
        else:
            remarks.append(f"{held(gpu.uuid, pid).message} It is left to that worker.")
    return free, remarks


def calibrate(settings: Settings, wanted: str) -> int:
    """Measure, store and print the ceilings of the GPUs that ``wanted`` names."""
    from grader.queue.calibrate import calibrate as measure

    table = Table("GPU", "ceiling", "reached", box=None, pad_edge=False, header_style="dim")
    for gpu in chosen_gpus(ALL if wanted in ("", NONE) else wanted):
        for ceiling, value in measure(settings, gpu).items():
            what, _, dtype = ceiling.partition(":")
            label = f"matmul, {dtype}" if dtype else f"copy {what}"
            table.add_row(safe(f"{gpu.index} {gpu.name}"), safe(label), _amount(value, dtype))
    put_table(table)
    return 0


def forget_costs(settings: Settings, wanted: str) -> int:
    """Remove what is kept of the cost of a round on the GPUs that ``wanted`` names. Their workers need not stop."""
    from grader.judge.round_costs import kept_in

    named = None if wanted in ("", NONE, ALL) else {it.uuid for it in chosen_gpus(wanted)}
    found = [it for it in kept_in(settings.data_dir) if named is None or it.machine.uuid in named]
    for costs in found:
        costs.reset()
        say(f"{costs.machine.model} ({costs.machine.uuid}): forgotten; the next timings tell anew.", "green")
    if not found:
        say("Nothing is kept of the cost of a round there.")
    return 0


def _amount(value: float, dtype: str) -> str:
    unit = "flop/s" if dtype else "B/s"
    for scale, letter in _SCALES:
        if value >= scale:
            return f"{value / scale:,.3g} {letter}{unit}"
    return f"{value:,.3g} {unit}"


# A worker imports torch and starts its first boxes before its first heartbeat: slow on a cold disk.
READY_SECONDS = 180.0


@dataclass(frozen=True)
class PlatformPlan:
    """What `grader up` starts. The children get the same ``settings``; ``compilers``: workers that only compile, None
    for as many as suit the GPUs.
    """

    settings: Settings
    workers: int
    ready_file: Path | None
    compilers: int | None = None

    @property
    def url(self) -> str:
        host = self.settings.host
        host = f"[{host}]" if ":" in host else host
        host = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}.get(host, host)  # noqa: S104 - where a person opens it
        return f"http://{host}:{self.settings.port}"


def run_platform(plan: PlatformPlan) -> int:
    """Start everything and keep it running until a signal comes. Raises GraderError where it cannot start."""
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
            children += [board_child(number, settings.device, env) for number in range(1, plan.workers + 1)]
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
    """Replace port 0 by a free port, so that every child and the user see the same one."""
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
            f"{settings.host}:{settings.port} cannot be listened on: {error.strerror}.",
            "Choose another port with --port; --port 0 takes any free one.",
        ) from error


class _Redis:
    """The embedded Redis, restarted when it dies. Its wake-up jobs are created again from SQL."""

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
    """Every part answers, and every GPU's board is served or an alert says why not: one bad GPU stops no platform."""
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
    """Bring the database up to date, and create the first account where there is none."""
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
        say("They can read and change everything that you can. Only run code that you trust.", "yellow")


@contextmanager
def _only_one(lock: Path) -> Iterator[None]:
    """Two platforms must not share a data folder and its Redis. Raises Conflict."""
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
