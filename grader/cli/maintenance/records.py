"""`admin submissions`, `admin show`, `admin requeue` and `admin export`: what was handed in."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.text import Text

from grader.cli import options
from grader.cli.maintenance.place import here
from grader.cli.report import time_text
from grader.cli.terminal import out, put_json, put_table, safe, say, tell
from grader.errors import BadRequest, Conflict
from grader.schemas.report import Verdict
from grader.schemas.submission import State


def _verdict(word: str) -> Verdict:
    try:
        return Verdict(word)
    except ValueError:
        raise typer.BadParameter(f"'{word}' is not one of {', '.join(Verdict)}.") from None


_User = Annotated[str | None, typer.Option("--user", metavar="NAME", help="Of this user.")]
_OfChallenge = Annotated[
    str | None, typer.Option("--challenge", "-c", metavar="SLUG", help="For this challenge.")
]
_WithVerdict = Annotated[
    Verdict | None,
    typer.Option(
        "--verdict", metavar="VERDICT", parser=_verdict, help="With this verdict, such as wrong_answer."
    ),
]


def register(admin: typer.Typer) -> None:
    admin.command()(submissions)
    admin.command()(show)
    admin.command()(requeue)
    admin.command()(export)


def submissions(
    challenge: _OfChallenge = None,
    user: _User = None,
    state: Annotated[State | None, typer.Option("--state", help="In this state.")] = None,
    verdict: _WithVerdict = None,
    device: options.Device = None,
    request: Annotated[
        str | None, typer.Option("--request", metavar="ID", help="Handed in by that web request.")
    ] = None,
    days: Annotated[
        float | None, typer.Option("--days", metavar="N", min=0, help="Handed in within N days.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=100_000, help="How many, latest first.")] = 50,
    runs: Annotated[bool, typer.Option("--runs", help="Runs by public cases alone instead.")] = False,
    json: options.Json = False,
) -> int:
    """List submissions, the newest first."""
    from grader.schemas.submission_search import FoundSubmissionList
    from grader.service.submission_search import Filter, entries

    wanted = Filter(challenge, user, state, verdict, device, request=request, since_days=days, runs=runs)
    with here() as platform:
        found = list(entries(platform, wanted, limit))
    if json:
        put_json(FoundSubmissionList(submissions=found))
        return 0
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("submission", "handed in", "user", "challenge", "device", "state", "verdict", "failures"):
        table.add_column(name)
    for it in found:
        when = it.created_at.astimezone().strftime("%Y-%m-%d %H:%M")
        ended = it.verdict.value if it.verdict else ""
        words = (it.user, it.challenge, it.device, it.state.value, ended, it.failures or "")
        table.add_row(Text(it.id, "cyan"), when, *(safe(word) for word in words))
    put_table(table)
    return 0


def show(submission: options.Submission, json: options.Json = False) -> int:
    """Show one submission, and the ids that its log lines bear."""
    from grader.service.submission_search import entry

    with here() as platform:
        found = entry(platform, submission)
    if json:
        put_json(found)
        return 0
    for name, value in found.model_dump(mode="json").items():
        if value is not None and value != "":
            told = time_text(value) if name.endswith("_us") else str(value)
            out().print(Text(f"{name:<12}", "dim"), safe(told), soft_wrap=True)
    ids = [found.id, *([found.request_id] if found.request_id else [])]
    say(f"Its log lines: grep -E '{'|'.join(ids)}' in the logs of web and workers.", "dim")
    return 0


def requeue(
    submissions: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="Those that failed by our fault.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All that failed.")] = False,
    json: options.Json = False,
) -> int:
    """Have submissions that failed by our fault wait again."""
    from grader.service.requeue import requeue as again

    if bool(submissions) == everything:
        raise BadRequest("Name submissions, or say --all.", "`grader admin submissions --state failed`.")
    with here() as platform:
        done = again(platform, submissions or [])
    if json:
        put_json(done)
        return 0
    tell(f"{len(done.submissions)} submissions wait again.", "green")
    return 0


def export(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="A new file; - or nothing: stdout.")
    ] = None,
    form: Annotated[Literal["csv", "json"], typer.Option("--format", help="A table, or JSON.")] = "csv",
    challenge: _OfChallenge = None,
    user: _User = None,
    verdict: _WithVerdict = None,
    days: Annotated[
        float | None, typer.Option("--days", metavar="N", min=0, help="Handed in within N days.")
    ] = None,
) -> int:
    """Write results as a table for spreadsheets, or as JSON lines; no sources."""
    from grader.service.submission_search import Filter, as_csv, entries

    wanted = Filter(challenge, user, verdict=verdict, since_days=days)
    with here() as platform:
        found = entries(platform, wanted)
        lines = as_csv(found) if form == "csv" else (it.model_dump_json() + "\n" for it in found)
        if file is None or file == Path("-"):
            sys.stdout.writelines(lines)
            return 0
        try:
            with file.open("x", encoding="utf-8", newline="") as target:
                target.writelines(lines)
        except FileExistsError as error:
            raise Conflict(f"There is a file '{file}' already.", "Name a new one.") from error
        except OSError as error:
            raise BadRequest(f"'{file}' cannot be written: {error.strerror}.") from error
    say(f"Wrote {file}.", "green")
    return 0
