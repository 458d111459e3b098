"""What `grader worker` does: one worker, or several as processes of their own, or a calibration."""

from __future__ import annotations

import os
import secrets
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.table import Table

from grader.cli.configuration import environment
from grader.cli.supervisor import Child, asked_to_end, end_all, start_python
from grader.cli.terminal import put_table, safe
from grader.device_kinds import kind_of
from grader.errors import EXIT_OUR_FAILURE, BadRequest
from grader.queue.gpu_lock import held, holder, lock_folder
from grader.queue.gpus import ALL, NONE, chosen_gpus
from grader.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.sandbox.gpu import Gpu

TEND_SECONDS = 0.2
# Tells this process's children from those of one that had its number earlier.
_CREW = secrets.token_hex(2)
_SCALES = ((1e12, "T"), (1e9, "G"), (1e6, "M"))


@dataclass(frozen=True)
class WorkerSet:
    """Who is to work: the GPUs named by ``gpus``, or without any the board ``device`` (empty: none), and ``compilers``
    workers that only compile."""

    device: str
    gpus: str
    compilers: int = 0


def serve(settings: Settings, crew: WorkerSet, name: str | None, burst: bool) -> int:
    """Serve until ended: in this process where it is one worker, else each in a process of its own."""
    from grader.queue.worker import run_compile_worker, run_worker

    gpus = chosen_gpus(crew.gpus) if crew.gpus not in ("", NONE) else []
    if not gpus and crew.device:
        check_device(crew.device)
    boards = len(gpus) or int(bool(crew.device))
    if boards + crew.compilers > 1:
        return _serve_all(settings, gpus, crew, name, burst)
    if boards:
        run_worker(settings, name=name, burst=burst, gpu=gpus[0] if gpus else None)
    else:
        run_compile_worker(settings, name=name, burst=burst)
    return 0


def check_device(device: str) -> None:
    """Raises UnknownDevice for a board of no kind, BadRequest for one that takes a GPU to serve."""
    if kind_of(device).gpus is not None:
        raise BadRequest(
            f"A worker of the board '{device}' needs its GPU.",
            "Name the GPU instead, its model names the board: grader worker --gpu N, or --gpu all.",
        )


def _serve_all(settings: Settings, gpus: list[Gpu], crew: WorkerSet, name: str | None, burst: bool) -> int:
    """One child each, started again when it dies, ended together."""
    for gpu in gpus:
        if (pid := holder(gpu.uuid, lock_folder(settings))) is not None:
            raise held(gpu.uuid, pid)
    env = environment(settings)

    def options(part: str) -> list[str]:
        return [*(["--burst"] if burst else []), *(["--name", f"{name}-{part}"] if name else [])]

    with asked_to_end() as asked:
        children = [gpu_child(gpu, env, *options(str(gpu.index))) for gpu in gpus]
        if not gpus and crew.device:
            children.append(board_child(1, crew.device, env, *options(crew.device)))
        children += [
            compile_child(number, env, *options(f"compile-{number}"))
            for number in range(1, crew.compilers + 1)
        ]
        try:
            while not asked.wait(TEND_SECONDS):
                if burst and all(child.process.poll() is not None for child in children):
                    return int(any(child.process.returncode for child in children)) * EXIT_OUR_FAILURE
                if not burst:
                    for child in children:
                        child.tend()
        finally:
            end_all(children)
    return 0


def gpu_child(gpu: Gpu, env: Mapping[str, str], *options: str) -> Child:
    """A worker of that GPU as a process of its own."""
    return _child(f"worker of GPU {gpu.index}", env, "--gpu", gpu.uuid, *options)


def board_child(number: int, device: str, env: Mapping[str, str], *options: str) -> Child:
    """A worker of a board without a GPU."""
    return _child(
        f"worker {number}", env, "--device", device, "--name", _name(f"{device}-{number}"), *options
    )


def compile_child(number: int, env: Mapping[str, str], *options: str) -> Child:
    """A worker that only compiles."""
    name = _name(f"compile-{number}")
    return _child(f"compile worker {number}", env, "--gpu", NONE, "--compile", "1", "--name", name, *options)


def _name(part: str) -> str:
    """The same each time the child is started, so that one that staff drained stays drained; a worker of a GPU is
    named by that anyway.
    """
    return f"{socket.gethostname()}-{os.getpid()}-{_CREW}-{part}"


def _child(called: str, env: Mapping[str, str], *options: str) -> Child:
    command = ["-m", "grader.cli.main", "worker", *options]
    return Child(called, lambda: start_python(command, env))


def default_compilers(gpus: int) -> int:
    """How many compile for so many GPUs: compiling takes about as long as judging does, and a core."""
    from grader.sandbox.processor import background_cores
    from grader.sandbox.toolkit import nvcc_version

    if not gpus or nvcc_version() is None:
        return 0
    return max(1, min(2 * gpus, len(background_cores())))


def gpus_of_up(settings: Settings) -> tuple[list[Gpu], list[str]]:
    """The GPUs that `grader up` serves, and a remark for each that another platform's worker holds.

    By default every GPU there is. Raises BadRequest or BoxUnavailable where one that was named is not there.
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
            remarks.append(f"{held(gpu.uuid, pid).message} It is left alone.")
    return free, remarks


def calibrate(settings: Settings, wanted: str) -> int:
    """Measure and keep the ceilings of the GPUs named by ``wanted``, and print them."""
    from grader.queue.calibrate import calibrate as measure

    table = Table("GPU", "ceiling", "reached", box=None, pad_edge=False, header_style="dim")
    for gpu in chosen_gpus(ALL if wanted in ("", NONE) else wanted):
        for ceiling, value in measure(settings, gpu).items():
            what, _, dtype = ceiling.partition(":")
            told = f"matmul, {dtype}" if dtype else f"copy {what}"
            table.add_row(safe(f"{gpu.index} {gpu.name}"), safe(told), _amount(value, dtype))
    put_table(table)
    return 0


def _amount(value: float, dtype: str) -> str:
    unit = "flop/s" if dtype else "B/s"
    for scale, letter in _SCALES:
        if value >= scale:
            return f"{value / scale:,.3g} {letter}{unit}"
    return f"{value:,.3g} {unit}"
