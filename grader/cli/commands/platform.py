"""`up`, `worker`, `sandbox`, `db`: running a platform on this machine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from grader.cli import options
from grader.cli.command import make_app
from grader.cli.terminal import put_json, say, tell
from grader.errors import BadRequest, NotAllowed

app = make_app()
Box = Annotated[
    Literal["auto", "docker", "bubblewrap", "local"] | None,
    typer.Option(
        help="The boxes that submissions run in. (GRADER_BOX; default auto: docker or bubblewrap if usable)"
    ),
]
GpuOption = Annotated[
    str | None,
    typer.Option(
        "--gpu",
        metavar="N|UUID|all|none",
        help="The GPUs to serve, by number or UUID; 0+1: one worker with both. (GRADER_GPU)",
    ),
]


@app.command()
def up(
    host: Annotated[
        str | None, typer.Option(help="Address to listen on. (GRADER_HOST; default 127.0.0.1)")
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port to listen on; 0: any free port. (GRADER_PORT)")
    ] = None,
    gpu: GpuOption = None,
    compilers: Annotated[
        int | None,
        typer.Option(
            "--compile",
            min=0,
            max=64,
            metavar="N",
            help="How many workers only compile (default: two for each GPU, if there are cores for them).",
        ),
    ] = None,
    box: Box = None,
    ready_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write {url, pid} as JSON to this file once everything answers."),
    ] = None,
) -> int:
    """Start everything on this machine: Redis, web and workers. Ctrl-C stops all.

    It starts a worker for the board without a GPU (GRADER_DEVICE), one for each GPU that --gpu names (by default all),
    and workers that compile ahead while a GPU is busy. `grader worker` starts more.
    """
    _need_linux()
    from grader.cli.config import load_settings
    from grader.cli.up import PlatformPlan, run_platform, with_free_port

    settings = load_settings(host=host, port=port, box=box, gpu=gpu)
    return run_platform(PlatformPlan(with_free_port(settings), ready_file, compilers))


@app.command()
def worker(
    device: options.Device = None,
    gpu: GpuOption = None,
    box: Box = None,
    server: Annotated[
        str | None,
        typer.Option(
            "--server",
            metavar="URL",
            help="Serve this server over HTTPS, with the worker's token in GRADER_WORKER_TOKEN.",
            show_default="GRADER_WORKER_SERVER",
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="The worker's name in logs and health (default: made up).")
    ] = None,
    compilers: Annotated[
        int,
        typer.Option(
            "--compile",
            min=0,
            max=64,
            metavar="N",
            help="Start N workers that only compile, with or without those of the GPUs. They need no GPU.",
        ),
    ] = 0,
    burst: Annotated[bool, typer.Option("--burst", help="Stop when the queue is empty.")] = False,
    lifetime: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Run this long at most (3300, 55m, 12h), and take no submission in the last two minutes of it.",
        ),
    ] = None,
    idle: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Stop after this long without a submission (300, 5m)."),
    ] = None,
    calibrate: Annotated[
        bool,
        typer.Option(
            "--calibrate", help="Measure, store and print the highest rates of the GPUs, then stop."
        ),
    ] = False,
    forget_costs: Annotated[
        bool,
        typer.Option(
            "--forget-costs",
            help="Forget the cost of a timing round on the GPUs (grader doctor shows it), then stop.",
        ),
    ] = False,
) -> int:
    """Serve the queue of a device until stopped.

    With --gpu: one worker for each named GPU, which no other worker can serve meanwhile; the GPU's model names the
    board. Without: the board that --device or GRADER_DEVICE names. With --compile and no GPU: only compile, for all
    hosts of the platform.

    With --server, the host needs neither the database's password nor Redis. Such workers check no uploads and send no
    grades.

    With --lifetime or --idle, for schedulers such as Slurm: exit code 75 if a signal ended it, to be started again.
    """
    _need_linux()
    if device is not None and gpu is not None:
        raise BadRequest(
            "--gpu and --device exclude each other: the GPU's model names the board.", "Leave out --device."
        )
    from grader.cli import workers
    from grader.cli.config import load_settings
    from grader.queue.gpus import NONE
    from grader.queue.pilot import PilotLimits

    pilot = PilotLimits(options.seconds("--lifetime", lifetime), options.seconds("--idle", idle))
    settings = load_settings(device=device, gpu=gpu, box=box, worker_server=server)
    if calibrate:
        return workers.calibrate(settings, settings.gpu)
    if forget_costs:
        return workers.forget_costs(settings, settings.gpu)
    wanted = "" if device is not None else settings.gpu
    only_compile = compilers > 0 and device is None and wanted in ("", NONE)
    chosen = workers.WorkerSet("" if only_compile else settings.device, wanted, compilers)
    return workers.run_workers(settings, chosen, name, burst, pilot)


def _need_linux() -> None:
    if not sys.platform.startswith("linux"):
        raise NotAllowed(
            "A platform needs Linux.", "On this machine you can use a server: grader login --server URL"
        )


sandbox = make_app()
app.add_typer(sandbox, name="sandbox", help="Manage the box image.")


@sandbox.command()
def build(
    from_host: Annotated[
        bool,
        typer.Option(
            "--from-host",
            help="Use this machine's toolchain: the image has empty folders, and boxes mount it there read-only.",
        ),
    ] = False,
) -> int:
    """Build the image of Docker boxes. Needs no registry."""
    if not from_host:
        raise BadRequest("Name what the image is built from.", "Use --from-host.")
    from grader.sandbox.image import build_from_host

    tag = build_from_host()
    say("The box image is ready.", "green")
    tell(tag)
    return 0


db = make_app()
app.add_typer(db, name="db", help="Manage the database.")


@db.command()
def upgrade(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show the steps.")] = False,
    json: options.Json = False,
) -> int:
    """Upgrade the database to the current version. Does nothing if it is up to date."""
    from grader.cli.local_platform import database
    from grader.records.dump import is_used
    from grader.records.schema import missing_of
    from grader.records.schema import upgrade as bring_up

    with database() as (_, engine):
        missing = missing_of(engine)
        for step in missing:
            say(f"{'would do' if dry_run else 'doing'} {step.revision}: {step.about}", "dim")
        with engine.connect() as connection:
            used = is_used(connection)
        if missing and used:
            say("Only a backup can undo this: grader admin backup FILE", "yellow")
        if missing and not dry_run:
            bring_up(engine)
        kind = engine.dialect.name
    if json:
        put_json({"database": kind, "done": not dry_run, "steps": [step.revision for step in missing]})
    elif not (dry_run and missing):
        say(f"The {kind} database is up to date.", "green")
    return 0
