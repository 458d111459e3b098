"""`void`, `regrade` and `inbox`: what staff decide of results."""

from __future__ import annotations

import time
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from grader.cli import options
from grader.cli.client import Client, connect, segment, understood
from grader.cli.command import make_app
from grader.cli.terminal import put_json, put_json_line, put_table, safe, say, tell
from grader.errors import BadRequest
from grader.formats import points
from grader.schemas.inbox import InboxDone, InboxList, Outcome
from grader.schemas.regrade import Change, RegradeList, RegradeState, RegradeView
from grader.schemas.submission import SubmissionView

app = make_app(remote=True)
regrade = make_app(remote=True)
app.add_typer(regrade, name="regrade", help="Judge again, compare, and publish what changes.")

inbox = make_app(remote=True)
app.add_typer(inbox, name="inbox", help="Show and decide what staff have to look at.")

Number = Annotated[
    int, typer.Argument(metavar="NUMBER", min=1, help="The regrade, as `grader regrade list` numbers it.")
]
Reason = Annotated[str, typer.Option(help="Why; students read it once it is published.")]
Confirm = Annotated[
    str, typer.Option(metavar="NAME", help="Where it is large: the name of what is judged again.")
]
Watch = Annotated[bool, typer.Option("--watch", help="Follow it until everything is judged.")]
# A regrade waits behind students: nobody needs to know within a second.
_POLL_S = 2.0


@app.command()
def void(
    submission: options.Submission,
    reason: Annotated[str, typer.Option(help="Why; its author reads it.")] = "",
    undo: Annotated[bool, typer.Option("--undo", help="Let the result count again.")] = False,
    course: Annotated[
        str | None, typer.Option("--course", metavar="COURSE", help="In this course alone.")
    ] = None,
    json: options.Json = False,
) -> int:
    """Void a result, with a reason that its author reads, or take that back: the platform's staff everywhere, those
    of a course in that course alone."""
    if undo == bool(reason):
        raise BadRequest("Say --reason WHY to void a result, or --undo to take it back.")
    path = f"/submissions/{segment(submission)}/void"
    if undo:
        found = connect().delete(f"{path}?course={segment(course)}" if course else path)
    else:
        found = connect().put(path, {"reason": reason} | ({"course": course} if course else {}))
    view = understood(SubmissionView, found)
    if json:
        put_json(view)
    else:
        say(f"The result of {view.id} by {view.user} {'counts again' if undo else 'is void now'}.", "green")
    return 0


@regrade.command(name="submission")
def regrade_submission(
    submission: options.Submission,
    reason: Reason,
    watch: Watch = False,
    json: options.Json = False,
) -> int:
    """Judge one submission again (staff only)."""
    return _start({"submission": submission, "reason": reason}, watch, json)


@regrade.command(name="student")
def regrade_student(
    course: Annotated[str, typer.Argument(metavar="COURSE", help="The course.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="The student.")],
    reason: Reason,
    assignment: Annotated[
        str | None, typer.Option(metavar="ASSIGNMENT", help="Only this assignment's.")
    ] = None,
    confirm: Confirm = "",
    watch: Watch = False,
    json: options.Json = False,
) -> int:
    """Judge again what a student submitted for assignments of a course, or for one (staff only)."""
    body = {"course": course, "student": name, "reason": reason, "confirm": confirm}
    return _start(body | ({"assignment": assignment} if assignment else {}), watch, json)


@regrade.command(name="assignment")
def regrade_assignment(
    course: Annotated[str, typer.Argument(metavar="COURSE", help="The course.")],
    assignment: Annotated[str, typer.Argument(metavar="ASSIGNMENT", help="The assignment.")],
    reason: Reason,
    confirm: Confirm = "",
    watch: Watch = False,
    json: options.Json = False,
) -> int:
    """Judge again what everyone submitted while an assignment was open (staff only)."""
    body = {"course": course, "assignment": assignment, "reason": reason, "confirm": confirm}
    return _start(body, watch, json)


@regrade.command(name="challenge")
def regrade_challenge(
    slug: options.Slug,
    reason: Reason,
    confirm: Confirm = "",
    watch: Watch = False,
    json: options.Json = False,
) -> int:
    """Judge again whatever was submitted for a challenge, under the version that is shown (platform's staff only)."""
    return _start({"challenge": slug, "reason": reason, "confirm": confirm}, watch, json)


@regrade.command(name="list")
def list_regrades(
    course: Annotated[str | None, typer.Option(metavar="COURSE", help="Only this course's.")] = None,
    state: Annotated[RegradeState | None, typer.Option(help="Only those in this state.")] = None,
    json: options.Json = False,
) -> int:
    """List the regrades that you may decide of, newest first."""
    found = understood(
        RegradeList, connect().get("/regrades", course=course, state=state.value if state else None)
    )
    if json:
        put_json(found)
        return 0
    table = _table("number", "what", "state", "waiting", "up", "down", "same", "failed", "why")
    for entry in found.regrades:
        sums = entry.summary
        counts = (sums.waiting, sums.up, sums.down, sums.unchanged, sums.failed)
        table.add_row(
            str(entry.number),
            safe(entry.what, "cyan"),
            entry.state.value,
            *map(str, counts),
            safe(entry.reason),
        )
    put_table(table)
    return 0


@regrade.command(name="show")
def show_regrade(
    number: Number,
    unchanged: Annotated[
        bool, typer.Option("--unchanged", help="Also the submissions and ranks that stay as they are.")
    ] = False,
    json: options.Json = False,
) -> int:
    """Show what a regrade changes: each submission side by side, the grades, and the ranks in competitions."""
    found = understood(RegradeView, connect().get(f"/regrades/{number}"))
    if json:
        put_json(found)
        return 0
    _show(found, unchanged)
    return 0


@regrade.command()
def watch(number: Number, json: options.Json = False) -> int:
    """Follow a regrade until everything is judged."""
    return _follow(connect(), number, json)


@regrade.command()
def publish(
    number: Number,
    partial: Annotated[
        bool, typer.Option("--partial", help="Also where some failed by our fault: they keep what they have.")
    ] = False,
    json: options.Json = False,
) -> int:
    """Let the new judgements count; students read when and why."""
    return _decided(connect().post(f"/regrades/{number}/publish", {"partial": partial}), json)


@regrade.command()
def discard(number: Number, json: options.Json = False) -> int:
    """Leave everything as it was."""
    return _decided(connect().post(f"/regrades/{number}/discard", {}), json)


Keys = Annotated[
    list[str], typer.Argument(metavar="KEY...", help="The items, as `grader inbox list` names them.")
]


@inbox.command(name="list")
def list_inbox(
    course: Annotated[str | None, typer.Option(metavar="COURSE", help="Only this course's.")] = None,
    assignment: Annotated[
        str | None, typer.Option(metavar="ASSIGNMENT", help="Only this assignment's, with --course.")
    ] = None,
    challenge: Annotated[
        str | None, typer.Option("--challenge", "-c", metavar="SLUG", help="Only for this challenge.")
    ] = None,
    student: Annotated[str | None, typer.Option(metavar="NAME", help="Only of this student.")] = None,
    mark: Annotated[
        str | None, typer.Option(metavar="MARK", help="Only this flag, similar, or regrade_request.")
    ] = None,
    outcome: Annotated[str, typer.Option(help="open, fine, void, talk, or any.")] = Outcome.OPEN.value,
    reviewer: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only what this person looks at, or nobody.")
    ] = None,
    json: options.Json = False,
) -> int:
    """List what has to be looked at in your courses, newest first."""
    given = {"course": course, "assignment": assignment, "challenge": challenge, "user": student}
    given |= {"mark": mark, "outcome": outcome, "reviewer": reviewer}
    found = understood(InboxList, connect().get("/inbox", **given))
    if json:
        put_json(found)
        return 0
    table = _table("key", "mark", "student", "challenge", "course", "reviewer", "outcome", "about")
    for item in found.items:
        people = ", ".join(name for name in (item.user, item.other_user) if name)
        told = (item.reviewer or "", item.outcome.value, item.reason or item.about)
        table.add_row(
            item.key,
            item.mark,
            safe(people, "cyan"),
            safe(item.challenge),
            safe(item.course or ""),
            *map(safe, told),
        )
    put_table(table)
    say(f"{found.open} items are open in all.{' Filters show more.' if found.more else ''}")
    return 0


@inbox.command()
def assign(
    keys: Keys,
    to: Annotated[str, typer.Option("--to", metavar="NAME|nobody", help="Who looks at them.")],
    json: options.Json = False,
) -> int:
    """Say who looks at items."""
    body = {"keys": keys, "reviewer": None if to == "nobody" else to}
    return _done(connect().post("/inbox/assign", body), json)


@inbox.command()
def decide(
    keys: Keys,
    outcome: Annotated[Outcome, typer.Option("--outcome", "-o", help="What comes of them.")],
    reason: Annotated[str, typer.Option(help="Why; of a void result its author reads it.")] = "",
    submission: Annotated[
        list[str] | None,
        typer.Option("--submission", metavar="ID", help="Of a pair: whose result is void; more than once."),
    ] = None,
    json: options.Json = False,
) -> int:
    """Decide of items: fine, void the result, or talk with the student; all of them or none."""
    body = {"keys": keys, "outcome": outcome.value, "reason": reason, "submissions": submission or []}
    return _done(connect().post("/inbox/decide", body), json)


def _done(answer: object, json: bool) -> int:
    found = understood(InboxDone, answer)
    if json:
        put_json(found)
    else:
        say(f"Changed {found.changed}; {found.open} are open.", "green")
    return 0


def _start(body: dict[str, str], watch: bool, json: bool) -> int:
    client = connect()
    found = understood(RegradeView, client.post("/regrades", body))
    if watch:
        return _follow(client, found.number, json)
    if json:
        put_json(found)
        return 0
    say(f"Regrade {found.number} of {found.what}: {_words(found)}.", "green")
    say(f"Follow it with: grader regrade watch {found.number}", "dim")
    return 0


def _follow(client: Client, number: int, json: bool) -> int:
    """A line whenever something changes, and what it changes at the end."""
    path, last = f"/regrades/{number}", None
    while True:
        found = understood(RegradeView, client.get(path, counts="true"))
        if found.summary != last:
            last = found.summary
            if json:
                put_json_line({"regrade": found})
            else:
                left = f", about {found.expected_s:.0f} s of a worker left" if found.expected_s else ""
                say(f"{last.total - last.waiting} of {last.total} judged{left}")
        if not found.summary.waiting or found.state is not RegradeState.OPEN:
            break
        time.sleep(_POLL_S)
    whole = understood(RegradeView, client.get(path))
    if json:
        put_json_line({"regrade": whole})
    else:
        _show(whole, False)
    return 0


def _decided(answer: object, json: bool) -> int:
    found = understood(RegradeView, answer)
    if json:
        put_json(found)
    else:
        say(
            f"Regrade {found.number} of {found.what} is {found.state.value}: {_words(found)}.",
            "green",
        )
    return 0


def _show(found: RegradeView, unchanged: bool) -> None:
    tell(f"Regrade {found.number} of {found.what}, {found.state.value}: {found.reason}", "bold")
    table = _table(
        "submission", "student", "challenge", "change", "before", "after", "us", "us", "points", "points"
    )
    for entry in found.submissions:
        if entry.change is Change.UNCHANGED and not entry.verdict_changed and not unchanged:
            continue
        sides = (entry.before, entry.after)
        verdicts = [side.verdict.value if side.verdict else side.state.value for side in sides]
        times = ["" if side.time_us is None else f"{side.time_us:.4g}" for side in sides]
        worth = ["" if each is None else points(each) for each in (entry.points_before, entry.points_after)]
        table.add_row(
            entry.submission,
            safe(entry.user, "cyan"),
            safe(entry.challenge),
            entry.change.value,
            *verdicts,
            *times,
            *worth,
        )
    put_table(table)
    for grade in found.grades:
        tell(
            f"{grade.student} in {grade.course}/{grade.assignment}, {grade.challenge}: "
            f"{points(grade.before)} -> {points(grade.after)} points",
            "yellow",
        )
    for board in found.boards:
        tell(
            f"{board.title} on {board.device}: {board.changed} of {len(board.ranks)} ranks change.", "yellow"
        )
        for each in board.ranks:
            if each.before != each.after or unchanged:
                tell(f"  {each.team}: {each.before or '-'} -> {each.after or '-'}")
    tell(f"{_words(found)}.", "green")
    if found.state is RegradeState.OPEN and not found.summary.waiting:
        say(f"Publish it with: grader regrade publish {found.number}", "dim")


def _words(regrade: RegradeView) -> str:
    found = regrade.summary
    told = [f"{found.unchanged} unchanged, {found.up} up, {found.down} down"]
    told += [f"{found.waiting} waiting"] if found.waiting else []
    told += [f"{found.failed} failed by our fault"] if found.failed else []
    told += [f"{regrade.left_out} left out (their sources were deleted)"] if regrade.left_out else []
    return ", ".join(told)


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(Text(name))
    return table
