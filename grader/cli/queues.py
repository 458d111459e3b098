"""`admin queue` and `admin worker`: what staff do with queues and workers, on the server that they are signed in to."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from grader.cli import options
from grader.cli.answers import understood
from grader.cli.client import connect, segment
from grader.cli.command import make_app
from grader.cli.terminal import out, put_json, put_table, safe, say
from grader.errors import BadRequest
from grader.schemas.queue import (
    ChallengeKind,
    KindBody,
    Pause,
    PauseBody,
    QueueList,
    WorkerList,
    WorkerState,
)
from grader.schemas.submission import JudgingReason

queue = make_app()
worker = make_app()

Queue = Annotated[
    str, typer.Argument(metavar="QUEUE", help="A device, `compile` for what is to be compiled, or `all`.")
]
Worker = Annotated[str, typer.Argument(metavar="NAME", help="As `grader admin worker list` names it.")]
# As the challenge's track says.
_TRACK = "track"
_STYLES = {
    WorkerState.WORKING: "green",
    WorkerState.IDLE: "green",
    WorkerState.SILENT: "red",
    WorkerState.OUT_OF_SERVICE: "red",
    WorkerState.DRAINING: "yellow",
    WorkerState.DRAINED: "yellow",
    WorkerState.ENDED: "dim",
}


@queue.command("list")
def list_queues(json: options.Json = False) -> int:
    """List the queues: what waits, what runs, who serves them, and which are paused."""
    return _put_queues(understood(QueueList, connect().get("/queues")), json)


@queue.command()
def pause(
    name: Queue,
    reason: Annotated[
        str, typer.Option("--reason", "-r", metavar="TEXT", help="Shown to everybody who waits.")
    ] = "",
    json: options.Json = False,
) -> int:
    """Take nothing more from a queue. What runs goes on, and submissions are still taken and kept."""
    body = PauseBody(reason=reason).model_dump()
    found = understood(QueueList, connect().post(f"/queues/{segment(name)}/pause", body))
    return _put_queues(found, json)


@queue.command("resume")
def resume_queue(name: Queue, json: options.Json = False) -> int:
    """Serve a queue again."""
    return _put_queues(understood(QueueList, connect().post(f"/queues/{segment(name)}/resume")), json)


@queue.command("kind")
def kind_of(
    slug: options.Slug,
    kind: Annotated[
        str | None,
        typer.Argument(metavar="[competition|course|practice|track]", help="Nothing: show it."),
    ] = None,
    json: options.Json = False,
) -> int:
    """Show or choose how urgent submissions for a challenge are: `track` leaves it to the challenge's track."""
    path = f"/challenges/{segment(slug)}/kind"
    if kind is None:
        found = understood(ChallengeKind, connect().get(path))
    else:
        body = KindBody(kind=None if kind == _TRACK else _kind(kind))
        found = understood(ChallengeKind, connect().post(path, body.model_dump(mode="json")))
    if json:
        put_json(found)
    else:
        by = "chosen by staff" if found.chosen else "as its track says"
        out().print(Text.assemble(safe(found.challenge), f": {found.kind.value} ({by})"))
    return 0


@worker.command("list")
def list_workers(json: options.Json = False) -> int:
    """List the workers: what they have at hand, and which are drained."""
    return _put_workers(understood(WorkerList, connect().get("/workers")), json)


@worker.command()
def drain(name: Worker, json: options.Json = False) -> int:
    """Have a worker finish what it has, take nothing more, and end."""
    return _put_workers(understood(WorkerList, connect().post(f"/workers/{segment(name)}/drain")), json)


@worker.command("resume")
def resume_worker(name: Worker, json: options.Json = False) -> int:
    """Let a worker work again, now or when it is started the next time."""
    return _put_workers(understood(WorkerList, connect().post(f"/workers/{segment(name)}/resume")), json)


def _kind(name: str) -> JudgingReason:
    chosen = [kind.value for kind in JudgingReason if kind not in (JudgingReason.REJUDGE, JudgingReason.RUN)]
    if name not in chosen:
        raise BadRequest(f"There is no kind '{name}'.", f"There are: {', '.join([*chosen, _TRACK])}.")
    return JudgingReason(name)


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(name)
    return table


def _put_queues(found: QueueList, json: bool) -> int:
    if json:
        put_json(found)
        return 0
    table = _table("queue", "waiting", "running", "workers", "state")
    for each in found.queues:
        state = (
            _paused(each.paused) if each.paused else Text("served" if each.workers else "nobody serves it")
        )
        table.add_row(safe(each.name, "cyan"), str(each.waiting), str(each.running), str(each.workers), state)
    put_table(table)
    if found.paused:
        say("All queues are paused: grader admin queue resume all", "yellow")
    return 0


def _paused(pause: Pause) -> Text:
    since = f"paused since {pause.since.astimezone():%Y-%m-%d %H:%M}"
    return Text.assemble((since, "yellow"), safe(f": {pause.reason}" if pause.reason else ""))


def _put_workers(found: WorkerList, json: bool) -> int:
    if json:
        put_json(found)
        return 0
    table = _table("worker", "device", "state", "submission", "heard of")
    for each in found.workers:
        serves = [*([each.device] if each.device else []), *(["compile"] if each.compiles else [])]
        table.add_row(
            safe(each.name, "cyan"),
            safe(", ".join(serves)),
            Text(each.state.value, _STYLES[each.state]),
            safe(each.submission or ""),
            f"{each.heard_of_at.astimezone():%Y-%m-%d %H:%M:%S}",
        )
    put_table(table)
    return 0
