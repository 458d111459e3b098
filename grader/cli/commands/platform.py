"""`up` and `worker`: running a platform."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from grader.cli import options
from grader.cli.command import make_app
from grader.errors import NotAllowed

app = make_app()
Box = Annotated[
    Literal["auto", "docker", "local"] | None,
    typer.Option(help="What submissions run in. (GRADER_BOX, else auto: docker where it is usable)"),
]


@app.command()
def up(
    host: Annotated[
        str | None, typer.Option(help="Address to listen on. (GRADER_HOST, else 127.0.0.1)")
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="0 = any free one. (GRADER_PORT)")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Workers of this machine's device.")] = 1,
    box: Box = None,
    data_dir: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where the database lies (GRADER_DATA_DIR).")
    ] = None,
    ready_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write {url, pid} as JSON there once everything answers."),
    ] = None,
) -> int:
    """Start everything on this machine: Redis, web and workers. Ctrl-C ends all."""
    _need_linux()
    from grader.cli import startup
    from grader.cli.configuration import load_settings

    settings = load_settings(host=host, port=port, box=box, data_dir=data_dir)
    return startup.run(startup.Plan(startup.with_free_port(settings), workers, ready_file))


@app.command()
def worker(
    device: options.Device = None,
    box: Box = None,
    name: Annotated[
        str | None, typer.Option(help="How it is called in logs and health; made up otherwise.")
    ] = None,
    burst: Annotated[bool, typer.Option("--burst", help="End when the queue is empty.")] = False,
) -> int:
    """Serve the queue of a device until ended."""
    _need_linux()
    from grader.cli.configuration import load_settings
    from grader.queue.worker import run_worker

    run_worker(load_settings(device=device, box=box), name=name, burst=burst)
    return 0


def _need_linux() -> None:
    if not sys.platform.startswith("linux"):
        raise NotAllowed(
            "A platform runs on Linux.", "Here you can still use a server: grader login --server URL"
        )
