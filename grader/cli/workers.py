"""What `grader worker` does: one worker, one for each of several GPUs, or a calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from grader.cli.configuration import environment
from grader.cli.supervisor import Child, asked_to_end, end_all, start_python
from grader.cli.terminal import out, safe
from grader.errors import EXIT_OUR_FAILURE, BadRequest
from grader.queue.gpu_lock import held, holder, lock_folder
from grader.queue.gpus import ALL, NONE, chosen_gpus
from grader.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.sandbox.gpu import Gpu

TEND_SECONDS = 0.2
_SCALES = ((1e12, "T"), (1e9, "G"), (1e6, "M"))


def serve(settings: Settings, wanted: str, name: str | None, burst: bool) -> int:
    """Serve the GPUs named by ``wanted``, or without any the board of ``settings.device``, until ended."""
    from grader.queue.worker import run_worker

    if not wanted or wanted == NONE:
        check_device(settings.device)
        run_worker(settings, name=name, burst=burst)
        return 0
    gpus = chosen_gpus(wanted)
    if len(gpus) == 1:
        run_worker(settings, name=name, burst=burst, gpu=gpus[0])
        return 0
    return _serve_all(settings, gpus, name, burst)


def check_device(device: str) -> None:
    """Raises BadRequest for a board that takes a GPU to serve."""
    if device != "cpu":
        raise BadRequest(
            f"A worker of the board '{device}' needs its GPU.",
            "Name the GPU instead, its model names the board: grader worker --gpu N, or --gpu all.",
        )


def _serve_all(settings: Settings, gpus: list[Gpu], name: str | None, burst: bool) -> int:
    """One child a GPU, started again when it dies, ended together."""
    for gpu in gpus:
        if (pid := holder(gpu.uuid, lock_folder(settings))) is not None:
            raise held(gpu.uuid, pid)
    env = environment(settings)
    options = ["--burst"] if burst else []
    with asked_to_end() as asked:
        children = [
            gpu_child(gpu, env, *options, *(["--name", f"{name}-{gpu.index}"] if name else []))
            for gpu in gpus
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
    command = ["-m", "grader.cli.main", "worker", "--gpu", gpu.uuid, *options]
    return Child(f"worker of GPU {gpu.index}", lambda: start_python(command, env))


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
    out().print(table)
    return 0


def _amount(value: float, dtype: str) -> str:
    unit = "flop/s" if dtype else "B/s"
    for scale, letter in _SCALES:
        if value >= scale:
            return f"{value / scale:,.3g} {letter}{unit}"
    return f"{value:,.3g} {unit}"
