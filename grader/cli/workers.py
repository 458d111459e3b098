"""Workers of `grader worker` and `grader up`."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.table import Table

from grader.cli.config import environment
from grader.cli.processes import CHECK_SECONDS, ChildProcess, end_all, start_python, stop_on_signal
from grader.cli.terminal import put_table, safe, say
from grader.device_kinds import kind_of
from grader.errors import EXIT_OUR_FAILURE, EXIT_START_AGAIN, BadRequest
from grader.queue.gpu_lock import held, holder, lock_folder
from grader.queue.gpus import ALL, NONE, chosen_gpus
from grader.queue.pilot import PilotLimits
from grader.settings import Settings

if TYPE_CHECKING:
    from grader.sandbox.gpu import Gpu

# An earlier process may have had this process's id.
_RUN = secrets.token_hex(2)
_SCALES = ((1e12, "T"), (1e9, "G"), (1e6, "M"))


@dataclass(frozen=True)
class WorkerSet:
    """One worker for each of ``gpus``, else one for ``device`` (empty: none); and ``compilers`` that only
    compile.
    """

    device: str
    gpus: str
    compilers: int = 0


def run_workers(
    settings: Settings, wanted: WorkerSet, name: str | None, burst: bool, pilot: PilotLimits
) -> int:
    """A single worker runs in this process. The exit code."""
    from grader.queue.worker import run_compile_worker, run_worker

    gpus = chosen_gpus(wanted.gpus) if wanted.gpus not in ("", NONE) else []
    if not gpus and wanted.device:
        check_device(wanted.device)
    boards = len(gpus) or int(bool(wanted.device))
    if boards + wanted.compilers > 1:
        return _run_all(settings, gpus, wanted, name, burst, pilot)
    if boards:
        signalled = run_worker(settings, name=name, burst=burst, gpu=gpus[0] if gpus else None, pilot=pilot)
    else:
        signalled = run_compile_worker(settings, name=name, burst=burst, pilot=pilot)
    return EXIT_START_AGAIN if signalled and pilot != PilotLimits() else 0


def check_device(device: str) -> None:
    """Raises UnknownDevice, or BadRequest if only a GPU can serve it."""
    if kind_of(device).gpus is not None:
        raise BadRequest(
            f"A worker of the board '{device}' needs its GPU.",
            "Name the GPU: grader worker --gpu N, or --gpu all. Its model names the board.",
        )


def _run_all(
    settings: Settings,
    gpus: list[Gpu],
    wanted: WorkerSet,
    name: str | None,
    burst: bool,
    pilot: PilotLimits,
) -> int:
    for card in (card for gpu in gpus for card in gpu.every):
        if (pid := holder(card.uuid, lock_folder(settings))) is not None:
            raise held(card.uuid, pid)
    env = environment(settings)

    ends = burst or pilot != PilotLimits()
    common = ["--burst"] if burst else []
    common += ["--lifetime", str(pilot.lifetime)] if pilot.lifetime is not None else []
    common += ["--idle", str(pilot.idle)] if pilot.idle is not None else []

    def options(part: str) -> list[str]:
        return [*common, *(["--name", f"{name}-{part}"] if name else [])]

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
                if ends and all(child.process.poll() is not None for child in children):
                    return int(any(child.process.returncode for child in children)) * EXIT_OUR_FAILURE
                if not ends:
                    for child in children:
                        child.check()
        finally:
            end_all(children)
    return EXIT_START_AGAIN if pilot != PilotLimits() else 0


def gpu_child(gpu: Gpu, env: Mapping[str, str], *options: str) -> ChildProcess:
    numbers = "+".join(str(each.index) for each in gpu.every)
    return _child(f"worker of GPU {numbers}", env, "--gpu", gpu.label, *options)


def board_child(number: int, device: str, env: Mapping[str, str], *options: str) -> ChildProcess:
    return _child(
        f"worker {number}", env, "--device", device, "--name", _name(f"{device}-{number}"), *options
    )


def compile_child(number: int, env: Mapping[str, str], *options: str) -> ChildProcess:
    name = _name(f"compile-{number}")
    return _child(f"compile worker {number}", env, "--gpu", NONE, "--compile", "1", "--name", name, *options)


def _name(part: str) -> str:
    """The same at each restart, so a drained worker stays drained."""
    return f"{socket.gethostname()}-{os.getpid()}-{_RUN}-{part}"


def _child(called: str, env: Mapping[str, str], *options: str) -> ChildProcess:
    command = ["-m", "grader.cli.main", "worker", *options]
    return ChildProcess(called, lambda: start_python(command, env))


def default_compilers(gpus: int) -> int:
    """Compiling takes as long as judging, and one core."""
    from grader.sandbox.processor import background_cores
    from grader.sandbox.toolkit import nvcc_version

    if not gpus or nvcc_version() is None:
        return 0
    return max(1, min(2 * gpus, len(background_cores())))


def gpus_of_up(settings: Settings) -> tuple[list[Gpu], list[str]]:
    """By default all, and a remark for each that another platform holds. Raises BadRequest or BoxUnavailable
    for a missing one.
    """
    from grader.sandbox.gpu import find_gpus

    if settings.gpu == NONE:
        return [], []
    found = chosen_gpus(settings.gpu) if settings.gpu else find_gpus()
    free, remarks = [], []
    for gpu in found:
        taken = {each.uuid: holder(each.uuid, lock_folder(settings)) for each in gpu.every}
        busy = [(uuid, pid) for uuid, pid in taken.items() if pid is not None]
        if busy:
            remarks.append(f"{held(*busy[0]).message} It is left to that worker.")
        else:
            free.append(gpu)
    return free, remarks


def calibrate(settings: Settings, wanted: str) -> int:
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
    from grader.judge.round_costs import kept_in

    named = None if wanted in ("", NONE, ALL) else {gpu.uuid for gpu in chosen_gpus(wanted)}
    found = [costs for costs in kept_in(settings.data_dir) if named is None or costs.machine.uuid in named]
    for costs in found:
        costs.reset()
        say(
            f"{costs.machine.model} ({costs.machine.uuid}): forgotten; the next timings measure it again.",
            "green",
        )
    if not found:
        say("No cost of a round is stored for these GPUs.")
    return 0


def _amount(value: float, dtype: str) -> str:
    unit = "flop/s" if dtype else "B/s"
    for scale, letter in _SCALES:
        if value >= scale:
            return f"{value / scale:,.3g} {letter}{unit}"
    return f"{value:,.3g} {unit}"
