"""`up` and `worker`: running a platform."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from grader.cli import options
from grader.cli.command import make_app
from grader.errors import BadRequest, NotAllowed

app = make_app()
Box = Annotated[
    Literal["auto", "docker", "bubblewrap", "local"] | None,
    typer.Option(
        help="What submissions run in. (GRADER_BOX, else auto: docker or bubblewrap where they are usable)"
    ),
]
GpuOption = Annotated[
    str | None,
    typer.Option(
        "--gpu", metavar="N|UUID|all|none", help="The GPUs to serve, by number or UUID. (GRADER_GPU)"
    ),
]


@app.command()
def up(
    host: Annotated[
        str | None, typer.Option(help="Address to listen on. (GRADER_HOST, else 127.0.0.1)")
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="0 = any free one. (GRADER_PORT)")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Workers of the board cpu.")] = 1,
    gpu: GpuOption = None,
    compilers: Annotated[
        int | None,
        typer.Option(
            "--compile",
            min=0,
            max=64,
            metavar="N",
            help="Workers that only compile; by default two for each GPU, as far as there are cores for them.",
        ),
    ] = None,
    box: Box = None,
    data_dir: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where the database lies (GRADER_DATA_DIR).")
    ] = None,
    ready_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write {url, pid} as JSON there once everything answers."),
    ] = None,
) -> int:
    """Start everything on this machine: Redis, web and workers. Ctrl-C ends all.

    A worker is started for every GPU that --gpu names (by default all there are), beside those of the board cpu, and
    workers that compile ahead while a GPU is busy.
    """
    _need_linux()
    from grader.cli import startup
    from grader.cli.configuration import load_settings

    settings = load_settings(host=host, port=port, box=box, gpu=gpu, data_dir=data_dir)
    return startup.run(startup.Plan(startup.with_free_port(settings), workers, ready_file, compilers))


@app.command()
def worker(
    device: options.Device = None,
    gpu: GpuOption = None,
    box: Box = None,
    name: Annotated[
        str | None, typer.Option(help="How it is called in logs and health; made up otherwise.")
    ] = None,
    compilers: Annotated[
        int,
        typer.Option(
            "--compile",
            min=0,
            max=64,
            metavar="N",
            help="Start N workers that compile ahead, beside those of the GPUs or alone; they need no GPU.",
        ),
    ] = 0,
    burst: Annotated[bool, typer.Option("--burst", help="End when the queue is empty.")] = False,
    calibrate: Annotated[
        bool,
        typer.Option("--calibrate", help="Measure what the GPUs reach at most, keep and print it, and end."),
    ] = False,
) -> int:
    """Serve the queue of a device until ended.

    With --gpu one worker for each GPU named, which nobody else can serve meanwhile; the board is the GPU's model.
    Without, the board cpu. With --compile and no GPU, nothing but compiling, for all hosts of the platform.
    """
    _need_linux()
    if device is not None and gpu is not None:
        raise BadRequest("A GPU's model names its board.", "Leave --device out.")
    from grader.cli import workers
    from grader.cli.configuration import load_settings
    from grader.queue.gpus import NONE

    settings = load_settings(device=device, gpu=gpu, box=box)
    if calibrate:
        return workers.calibrate(settings, settings.gpu)
    wanted = "" if device is not None else settings.gpu
    only_compile = compilers > 0 and device is None and wanted in ("", NONE)
    crew = workers.WorkerSet("" if only_compile else settings.device, wanted, compilers)
    return workers.serve(settings, crew, name, burst)


def _need_linux() -> None:
    if not sys.platform.startswith("linux"):
        raise NotAllowed(
            "A platform runs on Linux.", "Here you can still use a server: grader login --server URL"
        )
