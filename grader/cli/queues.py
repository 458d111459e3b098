"""`admin queue` and `admin worker`: pause queues, drain workers of a server, and let other hosts work for it."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from grader.cli import options
from grader.cli.client import connect, segment, understood
from grader.cli.command import make_app
from grader.cli.terminal import moment, out, put_json, put_table, safe, say, table
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
from grader.schemas.worker_token import NewWorkerToken, WorkerTokenList

queue = make_app(remote=True)
worker = make_app(remote=True)

_Queue = Annotated[
    str, typer.Argument(metavar="QUEUE", help="A device, `compile` (the compile queue), or `all`.")
]
_Worker = Annotated[
    str, typer.Argument(metavar="NAME", help="The worker, as `grader admin worker list` names it.")
]
_Token = Annotated[str, typer.Argument(metavar="NAME", help="The token's name, such as campus-a.")]
# The kind of the challenge's track.
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
    """List the queues: waiting and running submissions, the number of workers, and pauses."""
    return _put_queues(understood(QueueList, connect().get("/queues")), json)


@queue.command()
def pause(
    name: _Queue,
    reason: Annotated[
        str, typer.Option("--reason", "-r", metavar="TEXT", help="Shown to everyone who waits.")
    ] = "",
    json: options.Json = False,
) -> int:
    """Pause a queue. Running submissions finish, and new ones are still accepted."""
    body = PauseBody(reason=reason).model_dump()
    found = understood(QueueList, connect().post(f"/queues/{segment(name)}/pause", body))
    return _put_queues(found, json)


@queue.command("resume")
def resume_queue(name: _Queue, json: options.Json = False) -> int:
    """Resume a queue."""
    return _put_queues(understood(QueueList, connect().post(f"/queues/{segment(name)}/resume")), json)


@queue.command("kind")
def kind_of(
    slug: options.Slug,
    kind: Annotated[
        str | None,
        typer.Argument(metavar="[competition|course|practice|track]", help="The kind (default: show it)."),
    ] = None,
    json: options.Json = False,
) -> int:
    """Show or set how urgent submissions for a challenge are; `track`: as its track says."""
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
    """List the workers, their submissions, and which are drained."""
    return _put_workers(understood(WorkerList, connect().get("/workers")), json)


@worker.command()
def drain(name: _Worker, json: options.Json = False) -> int:
    """Let a worker finish its submission and end, without taking another."""
    return _put_workers(understood(WorkerList, connect().post(f"/workers/{segment(name)}/drain")), json)


@worker.command("resume")
def resume_worker(name: _Worker, json: options.Json = False) -> int:
    """Undo a drain, now or when the worker starts again."""
    return _put_workers(understood(WorkerList, connect().post(f"/workers/{segment(name)}/resume")), json)


@worker.command()
def token(
    name: _Token,
    device: Annotated[
        list[str] | None,
        typer.Option(
            "--device",
            metavar="BOARD",
            help="A board that it may serve, or `compile`; repeat it for more (default: all).",
        ),
    ] = None,
    days: Annotated[
        int | None,
        typer.Option("--days", min=1, metavar="N", help="Its life (default: the longest allowed)."),
    ] = None,
    json: options.Json = False,
) -> int:
    """Issue a token for workers of other hosts, and print it once. It can do nothing else."""
    body = {"name": name, "devices": device or [], "days": days}
    issued = understood(NewWorkerToken, connect().post("/worker-tokens", body))
    if json:
        put_json(issued)
        return 0
    out().print(safe(issued.token))
    say(
        f"It ends on {moment(issued.expires_at)}, and is not shown again. On the host: set GRADER_WORKER_TOKEN to it, "
        f"then `grader worker --server {connect().server}`.",
        "dim",
    )
    return 0


@worker.command("tokens")
def list_tokens(json: options.Json = False) -> int:
    """List the tokens of workers."""
    return _put_tokens(understood(WorkerTokenList, connect().get("/worker-tokens")), json)


@worker.command("revoke")
def revoke_token(name: _Token, json: options.Json = False) -> int:
    """Revoke a token of workers at once. What they hold goes back to the queue."""
    return _put_tokens(understood(WorkerTokenList, connect().delete(f"/worker-tokens/{segment(name)}")), json)


def _put_tokens(found: WorkerTokenList, json: bool) -> int:
    if json:
        put_json(found)
        return 0
    rows = table("token", "boards", "workers", "last used", "ends")
    for each in found.tokens:
        used = moment(each.last_used_at) if each.last_used_at else "never"
        boards = safe(", ".join(each.devices) or "all")
        rows.add_row(safe(each.name, "cyan"), boards, str(each.workers), used, moment(each.expires_at))
    put_table(rows)
    return 0


def _kind(name: str) -> JudgingReason:
    chosen = [kind.value for kind in JudgingReason if kind.chosen]
    if name not in chosen:
        raise BadRequest(f"There is no kind '{name}'.", f"The kinds are: {', '.join([*chosen, _TRACK])}.")
    return JudgingReason(name)


def _put_queues(found: QueueList, json: bool) -> int:
    if json:
        put_json(found)
        return 0
    rows = table("queue", "waiting", "running", "workers", "state")
    for each in found.queues:
        state = _paused(each.paused) if each.paused else Text("served" if each.workers else "no worker")
        rows.add_row(safe(each.name, "cyan"), str(each.waiting), str(each.running), str(each.workers), state)
    put_table(rows)
    if found.paused:
        say("All queues are paused: grader admin queue resume all", "yellow")
    return 0


def _paused(pause: Pause) -> Text:
    since = f"paused since {moment(pause.since)}"
    return Text.assemble((since, "yellow"), safe(f": {pause.reason}" if pause.reason else ""))


def _put_workers(found: WorkerList, json: bool) -> int:
    if json:
        put_json(found)
        return 0
    rows = table("worker", "device", "state", "submission", "last heartbeat")
    for each in found.workers:
        serves = [*([each.device] if each.device else []), *(["compile"] if each.compiles else [])]
        rows.add_row(
            safe(each.name, "cyan"),
            safe(", ".join(serves)),
            Text(each.state.value, _STYLES[each.state]),
            safe(each.submission or ""),
            f"{each.heard_of_at.astimezone():%Y-%m-%d %H:%M:%S}",
        )
    put_table(rows)
    return 0
