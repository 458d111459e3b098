"""`run`, `submit`, `status`, `watch`, `cancel`, `history`."""

from __future__ import annotations

import time
import uuid
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from grader.cli import catalogue, config, names, options, own_run
from grader.cli.client import Client, connect, segment, understood
from grader.cli.command import make_app
from grader.cli.commands.comments import fetch as fetch_comments
from grader.cli.commands.comments import put_comments, put_note
from grader.cli.follow import (
    exit_code,
    fetch,
    fetch_last,
    fetch_report,
    fetch_standing,
    to_the_end,
    waiting_text,
)
from grader.cli.options import check_syntax
from grader.cli.output import EXIT_INTERRUPTED
from grader.cli.report import put_report, verdict_text
from grader.cli.saves import on_each_save
from grader.cli.standing import put_standing
from grader.cli.terminal import moment, out, put_columns, put_json, safe, say, tell
from grader.errors import EXIT_ACCEPTED, BadRequest, Unreachable
from grader.formats import duration
from grader.schemas.card_tool import CardTool
from grader.schemas.report import Flag, Verdict
from grader.schemas.submission import (
    RunBody,
    SourceBody,
    State,
    SubmissionList,
    SubmissionView,
    SubmitBody,
)

app = make_app()

# Seconds before each resend; a server's restart takes less.
RETRY_PAUSES = (1.0, 4.0)
# From here down, the number left is printed.
_FEW_LEFT = 5
_NOTE_COLUMNS = 40


@app.command()
def submit(
    file: options.File,
    challenge: options.Challenge = None,
    language: options.LanguageOption = None,
    device: options.Device = None,
    competition: Annotated[
        str | None,
        typer.Option(
            "--competition",
            metavar="SLUG",
            help="The competition, or `none` (default: the running one that you take part in).",
        ),
    ] = None,
    wait: Annotated[bool, typer.Option("--wait", "-w", help="Wait for the report and print it.")] = False,
    reuse: Annotated[
        bool,
        typer.Option(
            "--reuse", help="If you submitted the same source before, show that result; this uses no attempt."
        ),
    ] = False,
    timeout: options.Timeout = 0.0,
    check: options.Check = True,
    json: options.Json = False,
    server: options.Server = None,
) -> int:
    """Submit a file to the server."""
    client = connect()
    for_it = "" if competition == "none" else competition
    body = SubmitBody(**_read(file, challenge, language, device, check), competition=for_it, reuse=reuse)
    view = understood(SubmissionView, send(client, "/submissions", body))
    names.add(names.SUBMISSIONS, view.id)
    if view.reused:
        say(f"You submitted the same source at {moment(view.created_at)}; this is its result.")
    if wait:
        if not view.reused:
            for_what = "" if view.competition is None else f" for the competition {view.competition}"
            say(f"Submitted {view.id}{for_what}.")
        return to_the_end(client, view.id, timeout, json="report" if json else "", filename=str(file))
    if json:
        put_json(view)
    else:
        tell(view.id)
        say(f"{'Show' if view.reused else 'Follow'} it with: grader watch {view.id}", "dim")
        if view.competition is not None:
            say(f"It counts for the competition {view.competition}.")
        if view.remaining is not None and view.remaining <= _FEW_LEFT:
            say(f"You can submit {view.remaining} more for {view.challenge} for now.", "yellow")
    return EXIT_ACCEPTED


@app.command()
def run(
    file: options.File,
    challenge: options.Challenge = None,
    language: options.LanguageOption = None,
    device: options.Device = None,
    case: Annotated[
        str | None, typer.Option("--case", metavar="NAME", help="Run only this public case.")
    ] = None,
    size: Annotated[
        list[str] | None,
        typer.Option(
            "--size", metavar="NAME=N", help="With --case: another size, as a number or such as 'n=2*n+1'."
        ),
    ] = None,
    input_: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            metavar="NAME=VALUES",
            help="With --case: other values: a recipe (ramp, 'uniform(0,1)'), '[1,2,3]', or @FILE (.json, .npy).",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", metavar="S", help="With --case: draw random inputs from this seed."),
    ] = None,
    tool: Annotated[
        CardTool | None,
        typer.Option(
            "--tool", help="With --case, on a GPU: call it once more under this tool of the CUDA toolkit."
        ),
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Run again each time that the file is saved, until Ctrl+C.")
    ] = False,
    timeout: options.Timeout = 0.0,
    check: options.Check = True,
    json: options.Json = False,
    server: options.Server = None,
) -> int:
    """Run a file on the server on the public cases only, or on one with sizes and inputs of your own."""
    client = connect()
    own = own_run.asked(case, size or [], input_ or [], seed, tool)

    def once() -> int:
        body = RunBody(**_read(file, challenge, language, device, check), case=own)
        view = understood(SubmissionView, send(client, "/runs", body))
        if view.remaining is not None and view.remaining <= _FEW_LEFT:
            say(f"You have {view.remaining} more runs for now.", "yellow")
        say(f"Run {view.id} of {view.challenge} on {view.device}.", "dim")
        code = to_the_end(client, view.id, timeout, json="report" if json else "", filename=str(file))
        if own is not None and not json and code != EXIT_INTERRUPTED:
            own_run.put_changes(client, view.id)
        return code

    code = on_each_save(file, once) if watch else once()
    only = "the public cases" if own is None else "the case that you chose"
    say(f"This was only a run of {only}. `grader submit` also judges hidden cases and times it.", "dim")
    return code


def _read(
    file: Path, challenge: str | None, language: str | None, device: str | None, check: bool
) -> dict[str, Any]:
    """Raises BadSource, BadRequest, UnknownLanguage."""
    from grader.challenge.source import language_of

    source = options.read_source(file)
    chosen = language_of(file.name, language)
    if check:
        check_syntax(str(file), source, chosen)
    return {
        "challenge": catalogue.challenge_of(file, challenge, local=False),
        "language": chosen,
        "source": source,
        "filename": file.name,
        "device": device or config.text("device"),
    }


def send(client: Client, path: str, body: SourceBody) -> Any:
    """Raises Unreachable, and the server's errors."""
    # Thanks to the key, sending again makes no second submission.
    sent = body.model_dump(mode="json")
    for name in ("competition", "case"):
        if sent.get(name, "") is None:
            del sent[name]  # an older server refuses the field
    headers = {"Idempotency-Key": uuid.uuid4().hex}
    for pause in RETRY_PAUSES:
        try:
            return client.post(path, sent, headers)
        except Unreachable as error:
            say(f"{error.message} Sending it again in {pause:g} s.", "yellow")
            time.sleep(pause)
    try:
        return client.post(path, sent, headers)
    except Unreachable as error:
        raise Unreachable(
            error.message, f"{error.hint} It may have arrived anyway: see `grader history`."
        ) from error


@app.command()
def status(
    submission: options.Submission,
    json: options.Json = False,
    server: options.Server = None,
) -> int:
    """Show the state of a submission, and its report."""
    client = connect()
    view = fetch(client, submission)
    if json:
        put_json(view)
    else:
        out().print(_line(view))
        if view.state is State.DONE:
            put_report(fetch_report(client, view.id), view.filename)
            put_standing(fetch_standing(client, view))
        if view.questions:
            say(f"Questions on this kernel: grader quiz {view.id}", "dim")
        if view.comments:
            put_comments(fetch_comments(client, view.id))
        put_note(view)
    return exit_code(view.verdict)


@app.command()
def watch(
    submission: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="The submission (default: your latest).")
    ] = None,
    timeout: options.Timeout = 0.0,
    json: Annotated[
        bool, typer.Option("--json", help="Print a JSON line for each change; the last holds the report.")
    ] = False,
    server: options.Server = None,
) -> int:
    """Follow a submission to its end and print its report."""
    client = connect()
    # If the server is away at the start, fail at once.
    chosen = fetch(client, submission) if submission else fetch_last(client)
    return to_the_end(client, chosen.id, timeout, json="lines" if json else "")


@app.command()
def cancel(
    submission: options.Submission,
    json: options.Json = False,
    server: options.Server = None,
) -> int:
    """Cancel a submission that is not done."""
    view = understood(SubmissionView, connect().post(f"/submissions/{segment(submission)}/cancel"))
    if json:
        put_json(view)
    elif view.state is State.CANCELLED:
        tell(f"{view.id} is cancelled.")
    else:
        tell(f"{view.id} is being cancelled ({view.state.value} now).")
    return EXIT_ACCEPTED


@app.command()
def history(
    everyone: Annotated[
        bool,
        typer.Option("--all", help="Everyone's (staff only; teachers of a course also need --assignment)."),
    ] = False,
    user: Annotated[str | None, typer.Option(metavar="NAME", help="Only this account's.")] = None,
    challenge: Annotated[
        str | None, typer.Option("--challenge", "-c", metavar="SLUG", help="Only for this challenge.")
    ] = None,
    assignment: Annotated[
        str | None,
        typer.Option(
            metavar="COURSE/ASSIGNMENT",
            help="Only those of a course's students for it; COURSE alone: for all its assignments.",
        ),
    ] = None,
    verdict: Annotated[Verdict | None, typer.Option(help="Only with this verdict.")] = None,
    flag: Annotated[Flag | None, typer.Option(help="Only with this flag for staff.")] = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Received at or after this time, in your time zone.")
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Received at or before this time; a date includes the whole day."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=200, help="How many, newest first.")] = 20,
    older_than: Annotated[
        str | None, typer.Option(metavar="ID", help="Begin after this submission, for the next page.")
    ] = None,
    json: options.Json = False,
    server: options.Server = None,
) -> int:
    """List your submissions, or others', by challenge, verdict, flag and time."""
    found = understood(
        SubmissionList,
        connect().get(
            "/submissions",
            everyone="true" if everyone else None,
            user=user,
            challenge=challenge,
            assignment=assignment,
            verdict=verdict.value if verdict else None,
            flag=flag.value if flag else None,
            since=_moment(since, end=False),
            until=_moment(until, end=True),
            limit=limit,
            older_than=older_than,
        ),
    )
    chosen = (everyone, user, challenge, assignment, verdict, flag, since, until, older_than)
    if not any(chosen):
        names.keep(names.SUBMISSIONS, [view.id for view in found.submissions])
    if json:
        put_json(found)
        return EXIT_ACCEPTED
    _put_history(found, users=bool(everyone or user or assignment))
    if len(found.submissions) == limit < found.total:
        say(f"{limit} of {found.total} in all; the next: --older-than {found.submissions[-1].id}", "dim")
    return EXIT_ACCEPTED


def _moment(text: str | None, *, end: bool) -> str | None:
    """The server does not know this machine's zone. Raises BadRequest."""
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise BadRequest(
            f"'{text[:40]}' is not a time.", "Write it as 2026-01-31 18:00, or 2026-01-31."
        ) from error
    if end and len(text.strip()) == 10:
        at = at.replace(hour=23, minute=59, second=59)
    return (at if at.tzinfo is not None else at.astimezone()).isoformat()


def _line(view: SubmissionView) -> Text:
    line = Text.assemble(
        (view.id, "bold"), safe(f"  {view.challenge}, {view.language.value} on {view.device}: ")
    )
    line.append(view.state.value, "cyan")
    if view.progress.label and not view.state.final:
        line.append_text(safe(f", {view.progress.label}"))
    if words := waiting_text(view):
        line.append(f", {words}")
    if view.error:
        line.append_text(safe(f"\n{view.error}", "yellow"))
    if view.withdrawn_at:
        line.append(f", off the board since {moment(view.withdrawn_at)}")
    return line


def _put_history(found: SubmissionList, users: bool = False) -> None:
    scored = [(view, view.score) for view in found.submissions]
    notes = [safe(_beginning(view.note)) for view, _ in scored]
    noted = {"note": notes} if any(notes) else {}
    put_columns(
        {
            "submission": [safe(view.id, "cyan") for view, _ in scored],
            **({"user": [safe(view.user) for view, _ in scored]} if users else {}),
            "challenge": [safe(view.challenge) for view, _ in scored],
            "language": [Text(view.language.value) for view, _ in scored],
            "device": [safe(view.device) for view, _ in scored],
            "outcome": [_outcome(view) for view, _ in scored],
            "cases": [Text(f"{score.passed}/{score.total}" if score else "") for _, score in scored],
            "time": [Text(duration(score.time_us) if score and score.time_us else "") for _, score in scored],
            "submitted": [Text(moment(view.created_at)) for view, _ in scored],
            **noted,
        },
        optional=(*noted, "language", "device", "submitted", "cases"),
    )


def _outcome(view: SubmissionView) -> Text:
    text = verdict_text(view.verdict) if view.verdict else Text(view.state.value, "cyan")
    return Text.assemble(text, (", off the board", "dim")) if view.withdrawn_at else text


def _beginning(note: str) -> str:
    first = note.partition("\n")[0]
    return first if len(first) <= _NOTE_COLUMNS else f"{first[: _NOTE_COLUMNS - 1]}…"
