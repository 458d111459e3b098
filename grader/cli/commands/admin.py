"""`admin`: versions of challenges, queues and workers, on the server that staff are signed in to; submissions, backups
and retention, in the database of this machine, without a token.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.table import Table
from rich.text import Text

from grader.cli import operations, options
from grader.cli.client import connect, segment, understood
from grader.cli.command import make_app
from grader.cli.local_platform import database, here
from grader.cli.report import factor_text, verdict_text
from grader.cli.terminal import aside, moment, out, put_json, put_table, safe, say, tell
from grader.errors import BadRequest, Conflict
from grader.formats import duration, size_text
from grader.schemas.queue import (
    ChallengeKind,
    KindBody,
    Pause,
    PauseBody,
    QueueList,
    WorkerList,
    WorkerState,
)
from grader.schemas.report import Verdict
from grader.schemas.submission import JudgingReason, State
from grader.schemas.version import (
    ComparedSubmission,
    Comparison,
    Judgement,
    PublishBody,
    Rejudge,
    RejudgeBody,
    VersionList,
)

app = make_app()
admin = make_app()
app.add_typer(admin, name="admin", help="Manage versions, queues, workers and stored data.")
queue = make_app(remote=True)
admin.add_typer(queue, name="queue", help="Pause and resume queues.")
worker = make_app(remote=True)
admin.add_typer(worker, name="worker", help="Drain and resume workers.")
operations.register(admin)


@admin.command()
def versions(slug: options.Slug, json: options.Json = False) -> int:
    """List the served versions of a challenge, and which one's board is shown."""
    found = understood(VersionList, connect().get(f"/challenges/{segment(slug)}/versions"))
    if json:
        put_json(found)
    else:
        _show_versions(found)
    return 0


@admin.command()
def rejudge(
    slug: options.Slug,
    ranked: Annotated[bool, typer.Option("--ranked", help="Only submissions on a board.")] = False,
    json: options.Json = False,
) -> int:
    """Judge submissions again under the new version, after everything that students wait for."""
    body = RejudgeBody(ranked=ranked).model_dump()
    ordered = understood(Rejudge, connect().post(f"/challenges/{segment(slug)}/rejudge", body))
    if json:
        put_json(ordered)
    else:
        say(
            f"{ordered.queued} submissions will be judged again under version {ordered.version}; "
            f"{ordered.waiting} are waiting or running now."
        )
        if ordered.left_out:
            say(f"{ordered.left_out} left out: their sources were deleted with an account.", "yellow")
        say(f"Follow it with: grader admin compare {slug}", "dim")
    return 0


@admin.command()
def sources(
    slug: options.Slug,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="The ZIP (default: by its name).")
    ] = None,
    json: options.Json = False,
) -> int:
    """Write all that was submitted for a challenge as one ZIP, with a manifest as CSV and JSON."""
    file = output or Path(f"{slug}-sources.zip")
    size = connect().download(f"/challenges/{segment(slug)}/sources.zip", file)
    if json:
        put_json({"file": str(file), "bytes": size})
    else:
        say(f"Wrote {size} bytes to {file}.", "green")
    return 0


@admin.command()
def compare(
    slug: options.Slug,
    before: Annotated[
        int | None,
        typer.Option(
            "--before", min=1, metavar="VERSION", help="The older version (default: the one shown)."
        ),
    ] = None,
    after: Annotated[
        int | None,
        typer.Option("--after", min=1, metavar="VERSION", help="The newer version (default: the folder's)."),
    ] = None,
    json: options.Json = False,
) -> int:
    """Show which verdicts, times and ranks differ between two versions."""
    found = understood(
        Comparison, connect().get(f"/challenges/{segment(slug)}/comparison", before=before, after=after)
    )
    if json:
        put_json(found)
    else:
        _show_comparison(found)
    return 0


@admin.command()
def publish(
    slug: options.Slug,
    force: Annotated[
        bool, typer.Option("--force", help="Even while submissions wait to be judged again.")
    ] = False,
    json: options.Json = False,
) -> int:
    """Show students the board of the new version."""
    body = PublishBody(force=force).model_dump()
    found = understood(VersionList, connect().post(f"/challenges/{segment(slug)}/publish", body))
    if json:
        put_json(found)
    else:
        say(f"Students now see the board of version {found.folder}.", "green")
        _show_versions(found)
    return 0


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(name)
    return table


def _show_versions(found: VersionList) -> None:
    table = _table("version", "board", "judged", "first served", "fingerprint")
    for each in found.versions:
        state = (
            Text("shown", "green")
            if each.shown
            else Text("" if each.published_at else "not published", "yellow")
        )
        served = moment(each.served_at)
        table.add_row(str(each.version), state, str(each.judged), served, safe(each.fingerprint[:12], "dim"))
    put_table(table)
    if found.folder not in [each.version for each in found.versions]:
        say(f"Nothing was judged yet by the folder's version {found.folder}.", "dim")


def _show_comparison(found: Comparison) -> None:
    changed = sum(pair.verdict_changed for pair in found.submissions)
    out().print(
        Text(f"{found.challenge}, version {found.before} -> version {found.after}", "bold"),
        Text(f"{found.judged} judged under both, {found.waiting} waiting, {found.not_ordered} not ordered"),
    )
    if found.left_out:
        say(f"{found.left_out} left out: their sources were deleted with an account.", "dim")
    if found.failed:
        say(f"The platform failed to judge {found.failed}: grader admin rejudge {found.challenge}", "yellow")
    ratio = f", new time / old time {found.median_time_ratio:.3g} (median)" if found.median_time_ratio else ""
    out().print(Text(f"{changed} with another verdict{ratio}"))
    table = _table("submission", "user", "device", "before", "after", "time before", "time after", "ratio")
    for pair in found.submissions:
        table.add_row(*_row(pair))
    put_table(table)
    ranks = _table("board", "user", "rank before", "rank after")
    for rank in found.ranks:
        if rank.before != rank.after:
            ranks.add_row(safe(rank.device), safe(rank.user), str(rank.before or ""), str(rank.after or ""))
    if ranks.row_count:
        put_table(ranks)
    if found.shown != found.after:
        say(f"Students see version {found.shown}. Next: grader admin publish {found.challenge}", "dim")


def _row(pair: ComparedSubmission) -> list[Text]:
    return [
        safe(pair.submission, "cyan"),
        safe(pair.user),
        safe(pair.device),
        _verdict(pair.before),
        _verdict(pair.after),
        _time(pair.before),
        _time(pair.after),
        Text(factor_text(pair.time_ratio) if pair.time_ratio else ""),
    ]


def _verdict(judgement: Judgement | None) -> Text:
    if judgement is None:
        return Text("not ordered", "dim")
    return verdict_text(judgement.verdict) if judgement.verdict else Text(judgement.state.value, "cyan")


def _time(judgement: Judgement | None) -> Text:
    return Text(duration(judgement.time_us) if judgement and judgement.time_us else "")


Queue = Annotated[
    str, typer.Argument(metavar="QUEUE", help="A device, `compile` (the compile queue), or `all`.")
]
Worker = Annotated[
    str, typer.Argument(metavar="NAME", help="The worker, as `grader admin worker list` names it.")
]
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
    """List the queues: what waits, what runs, how many workers serve them, which are paused."""
    return _put_queues(understood(QueueList, connect().get("/queues")), json)


@queue.command()
def pause(
    name: Queue,
    reason: Annotated[
        str, typer.Option("--reason", "-r", metavar="TEXT", help="Shown to everyone who waits.")
    ] = "",
    json: options.Json = False,
) -> int:
    """Pause a queue. What runs goes on, and new submissions are still accepted."""
    body = PauseBody(reason=reason).model_dump()
    found = understood(QueueList, connect().post(f"/queues/{segment(name)}/pause", body))
    return _put_queues(found, json)


@queue.command("resume")
def resume_queue(name: Queue, json: options.Json = False) -> int:
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
    """Show or set how urgent submissions for a challenge are; `track` means as its track says."""
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
    """List the workers: what they work on, and which are drained."""
    return _put_workers(understood(WorkerList, connect().get("/workers")), json)


@worker.command()
def drain(name: Worker, json: options.Json = False) -> int:
    """Let a worker finish its submission, take no other, and end."""
    return _put_workers(understood(WorkerList, connect().post(f"/workers/{segment(name)}/drain")), json)


@worker.command("resume")
def resume_worker(name: Worker, json: options.Json = False) -> int:
    """Undo a drain, now or when the worker starts again."""
    return _put_workers(understood(WorkerList, connect().post(f"/workers/{segment(name)}/resume")), json)


def _kind(name: str) -> JudgingReason:
    chosen = [kind.value for kind in JudgingReason if kind.chosen]
    if name not in chosen:
        raise BadRequest(f"There is no kind '{name}'.", f"The kinds are: {', '.join([*chosen, _TRACK])}.")
    return JudgingReason(name)


def _put_queues(found: QueueList, json: bool) -> int:
    if json:
        put_json(found)
        return 0
    table = _table("queue", "waiting", "running", "workers", "state")
    for each in found.queues:
        state = _paused(each.paused) if each.paused else Text("served" if each.workers else "no worker")
        table.add_row(safe(each.name, "cyan"), str(each.waiting), str(each.running), str(each.workers), state)
    put_table(table)
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
    table = _table("worker", "device", "state", "submission", "last heartbeat")
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


_File = Annotated[Path, typer.Argument(metavar="FILE", help="The backup's file.")]


@admin.command()
def backup(file: _File, json: options.Json = False) -> int:
    """Write the database and the secrets to one new file, while everything runs."""
    from grader.service.operation.backup import backup as make

    with database() as (settings, engine), _progress() as on_rows:
        manifest = make(settings, engine, file, on_rows)
    if json:
        put_json({"file": str(file), "bytes": file.stat().st_size, **manifest.model_dump(mode="json")})
        return 0
    rows = sum(member.rows or 0 for member in manifest.members.values())
    tell(f"Wrote {file}: {rows} rows, {size_text(file.stat().st_size)}.", "green")
    say("It holds sources, password hashes and secret keys: protect it like the server.", "dim")
    return 0


@admin.command()
def restore(
    file: _File,
    replace: Annotated[bool, typer.Option("--replace", help="Delete what the database holds now.")] = False,
    json: options.Json = False,
) -> int:
    """Restore a backup into an empty database, SQLite or PostgreSQL: all of it or nothing."""
    from grader.service.operation.restore import restore as put_back

    with database() as (settings, engine), _progress() as on_rows:
        manifest = put_back(settings, engine, file, replace, on_rows)
    if json:
        put_json(manifest)
        return 0
    rows = sum(member.rows or 0 for member in manifest.members.values())
    tell(f"Restored {rows} rows of {manifest.created_at}.", "green")
    say("Start web and workers; submissions that were being judged are judged again.", "dim")
    return 0


@admin.command()
def prune(
    days: Annotated[
        int | None,
        typer.Option(
            "--older-than",
            metavar="DAYS",
            min=1,
            help="Also reports and artefacts older than this. (GRADER_RETENTION_DAYS)",
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Remove it (default: only show what would go).")] = False,
    json: options.Json = False,
) -> int:
    """Show what is no longer needed, and remove it with --yes. Never removes what a board needs."""
    from grader.service.operation.retention import prune as remove

    with here() as platform:
        done = remove(platform, days or platform.settings.retention_days or None, dry_run=not yes)
    if json:
        put_json(done)
        return 0
    counts = done.model_dump(exclude={"dry_run", "report_bytes"})
    listed = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items() if count)
    tell(f"{'Removed' if yes else 'Would remove'}: {listed or 'nothing'}.")
    if done.report_bytes:
        say(f"The reports take {size_text(done.report_bytes)}.", "dim")
    if not yes and listed:
        say("--yes removes it.", "dim")
    return 0


_SAID_EVERY_SECONDS = 5.0


@contextmanager
def _progress() -> Iterator[Callable[[str, int], None]]:
    """On a terminal one line that counts rows; elsewhere a line now and then."""
    if not aside().is_terminal:
        said_at = time.monotonic()

        def each(table: str, rows: int) -> None:
            nonlocal said_at
            if time.monotonic() - said_at > _SAID_EVERY_SECONDS:
                said_at = time.monotonic()
                say(f"{table}: {rows} rows", "dim")

        yield each
        return
    with aside().status("") as status:
        yield lambda table, rows: status.update(f"{table}: {rows} rows")


def _verdict_named(word: str) -> Verdict:
    try:
        return Verdict(word)
    except ValueError:
        raise typer.BadParameter(f"'{word}' is not one of {', '.join(Verdict)}.") from None


_WithVerdict = Annotated[
    Verdict | None,
    typer.Option(
        "--verdict",
        metavar="VERDICT",
        parser=_verdict_named,
        help="Only with this verdict, such as wrong_answer.",
    ),
]
_User = Annotated[str | None, typer.Option("--user", metavar="NAME", help="Only of this user.")]
_OfChallenge = Annotated[
    str | None, typer.Option("--challenge", "-c", metavar="SLUG", help="Only for this challenge.")
]


@admin.command()
def submissions(
    challenge: _OfChallenge = None,
    user: _User = None,
    state: Annotated[State | None, typer.Option("--state", help="Only in this state.")] = None,
    verdict: _WithVerdict = None,
    device: options.Device = None,
    request: Annotated[
        str | None, typer.Option("--request", metavar="ID", help="Only sent by this web request.")
    ] = None,
    days: Annotated[
        float | None, typer.Option("--days", metavar="N", min=0, help="Only the last N days.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=100_000, help="How many, newest first.")] = 50,
    runs: Annotated[bool, typer.Option("--runs", help="List runs (public cases only) instead.")] = False,
    json: options.Json = False,
) -> int:
    """List submissions, newest first."""
    from grader.schemas.submission_search import FoundSubmissionList
    from grader.service.submissions.submission_search import SearchFilter, entries

    wanted = SearchFilter(
        challenge, user, state, verdict, device, request=request, since_days=days, runs=runs
    )
    with here() as platform:
        found = list(entries(platform, wanted, limit))
    if json:
        put_json(FoundSubmissionList(submissions=found))
        return 0
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("submission", "submitted", "user", "challenge", "device", "state", "verdict", "failures"):
        table.add_column(name)
    for it in found:
        when = moment(it.created_at)
        ended = it.verdict.value if it.verdict else ""
        words = (it.user, it.challenge, it.device, it.state.value, ended, it.failures or "")
        table.add_row(Text(it.id, "cyan"), when, *(safe(word) for word in words))
    put_table(table)
    return 0


@admin.command()
def show(submission: options.Submission, json: options.Json = False) -> int:
    """Show a submission, and how to find its log lines."""
    from grader.service.submissions.submission_search import entry

    with here() as platform:
        found = entry(platform, submission)
    if json:
        put_json(found)
        return 0
    for name, value in found.model_dump(mode="json").items():
        if value is not None and value != "":
            shown = duration(value) if name.endswith("_us") else str(value)
            out().print(Text(f"{name:<12}", "dim"), safe(shown), soft_wrap=True)
    ids = [found.id, *([found.request_id] if found.request_id else [])]
    say(f"Its log lines: grep -E '{'|'.join(ids)}' in the logs of web and workers.", "dim")
    return 0


@admin.command()
def requeue(
    submissions: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="The failed submissions.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All failed submissions.")] = False,
    json: options.Json = False,
) -> int:
    """Queue submissions again that the platform failed to judge."""
    from grader.service.operation.operations import retry

    if bool(submissions) == everything:
        raise BadRequest(
            "Name submissions, or use --all.", "List them: grader admin submissions --state failed"
        )
    with here() as platform:
        done = retry(platform, None, submissions or [])
    if json:
        put_json(done)
        return 0
    tell(f"{len(done.submissions)} submissions are queued again.", "green")
    return 0


@admin.command()
def export(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="A new file (default, and -: stdout).")
    ] = None,
    form: Annotated[
        Literal["csv", "json"], typer.Option("--format", help="csv: a table; json: JSON lines.")
    ] = "csv",
    challenge: _OfChallenge = None,
    user: _User = None,
    verdict: _WithVerdict = None,
    days: Annotated[
        float | None, typer.Option("--days", metavar="N", min=0, help="Only the last N days.")
    ] = None,
    bom: options.Bom = False,
) -> int:
    """Write results as a table for spreadsheets, or as JSON lines. No sources."""
    from grader.service.submissions.submission_search import SearchFilter, as_csv, entries

    wanted = SearchFilter(challenge, user, verdict=verdict, since_days=days)
    with here() as platform:
        found = entries(platform, wanted)
        lines = as_csv(found, bom) if form == "csv" else (it.model_dump_json() + "\n" for it in found)
        if file is None or file == Path("-"):
            sys.stdout.writelines(lines)
            return 0
        try:
            with file.open("x", encoding="utf-8", newline="") as target:
                target.writelines(lines)
        except FileExistsError as error:
            raise Conflict(f"'{file}' already exists.", "Name a new file.") from error
        except OSError as error:
            raise BadRequest(f"'{file}' cannot be written: {error.strerror}.") from error
    say(f"Wrote {file}.", "green")
    return 0


@admin.command()
def forget(
    name: Annotated[str, typer.Argument(metavar="USER", help="The account's name.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do it. This cannot be undone.")] = False,
    json: options.Json = False,
) -> int:
    """Remove a person: name, address, tokens, sources, reports. Boards keep their times under a made-up name."""
    from grader.service.operation.retention import forget as remove

    if not yes:
        raise BadRequest(f"This would remove '{name}' for good.", "--yes does it.")
    with here() as platform:
        done = remove(platform, name)
    if json:
        put_json(done)
        return 0
    tell(f"Removed. Boards show '{done.name}' for {done.submissions} submissions.", "green")
    say("Earlier backups still hold their data, and logs still hold ids.", "dim")
    return 0
