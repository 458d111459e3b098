"""`void`, `regrade` and `inbox`: decisions of staff on results."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from grader.cli import options
from grader.cli.client import Client, connect, segment, understood
from grader.cli.command import make_app
from grader.cli.polling import until_done
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
app.add_typer(inbox, name="inbox", help="Review the items that need a decision by staff.")

Number = Annotated[
    int, typer.Argument(metavar="NUMBER", min=1, help="The regrade, as `grader regrade list` numbers it.")
]
Reason = Annotated[str, typer.Option(help="Why; students read it after publication.")]
Confirm = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="For a large regrade: the name of what is judged again, as confirmation."
    ),
]
Watch = Annotated[bool, typer.Option("--watch", help="Follow it until everything is judged.")]
# A regrade waits behind students, so a slow poll is enough.
_POLL_S = 2.0


@app.command()
def void(
    submission: options.Submission,
    reason: Annotated[str, typer.Option(help="Why; its author reads it.")] = "",
    undo: Annotated[bool, typer.Option("--undo", help="Let the result count again.")] = False,
    course: Annotated[
        str | None, typer.Option("--course", metavar="COURSE", help="Only in this course.")
    ] = None,
    json: options.Json = False,
) -> int:
    """Void a result, with a reason that its author reads, or undo that.

    Staff of the platform void a result everywhere, staff of a course only in that course.
    """
    if undo == bool(reason):
        raise BadRequest("A reason is missing.", "Void a result with --reason WHY, or undo that with --undo.")
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


@regrade.command()
def start(
    reason: Reason,
    submission: Annotated[str | None, typer.Option(metavar="ID", help="Only this submission.")] = None,
    challenge: Annotated[
        str | None,
        typer.Option(
            "--challenge",
            "-c",
            metavar="SLUG",
            help="All submissions for it, under the version that is shown (platform staff only).",
        ),
    ] = None,
    course: Annotated[
        str | None, typer.Option(metavar="COURSE", help="With --student, --assignment, or both.")
    ] = None,
    student: Annotated[str | None, typer.Option(metavar="NAME", help="This student's in --course.")] = None,
    assignment: Annotated[
        str | None, typer.Option(metavar="ASSIGNMENT", help="Those for this assignment of --course.")
    ] = None,
    confirm: Confirm = "",
    watch: Watch = False,
    json: options.Json = False,
) -> int:
    """Judge one submission, or all of a student, an assignment or a challenge, again (staff only)."""
    of_course = bool(student or assignment)
    if sum((submission is not None, challenge is not None, of_course)) != 1 or of_course != bool(course):
        raise BadRequest(
            "Name what is judged again.",
            "Use --submission, --challenge, or --course with --student or --assignment.",
        )
    named = {"submission": submission, "challenge": challenge, "course": course}
    named |= {"student": student, "assignment": assignment, "confirm": confirm or None}
    chosen = {name: value for name, value in named.items() if value is not None}
    return _start(chosen | {"reason": reason}, watch, json)


@regrade.command(name="list")
def list_regrades(
    course: Annotated[str | None, typer.Option(metavar="COURSE", help="Only this course's.")] = None,
    json: options.Json = False,
) -> int:
    """List the regrades that you may decide on, newest first."""
    found = understood(RegradeList, connect().get("/regrades", course=course))
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
    watch: Watch = False,
    json: options.Json = False,
) -> int:
    """Show what a regrade changes: submissions before and after, grades, and ranks in competitions."""
    if watch:
        return _follow(connect(), number, json, unchanged)
    found = understood(RegradeView, connect().get(f"/regrades/{number}"))
    if json:
        put_json(found)
        return 0
    _show(found, unchanged)
    return 0


@regrade.command()
def publish(
    number: Number,
    json: options.Json = False,
) -> int:
    """Let the new results count; students see when and why."""
    return _decided(connect().post(f"/regrades/{number}/publish", {"partial": False}), json)


@regrade.command()
def discard(number: Number, json: options.Json = False) -> int:
    """Discard the new results."""
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
        str | None,
        typer.Option(metavar="MARK", help="Only this flag, similar, regrade_request, or error_report."),
    ] = None,
    outcome: Annotated[str, typer.Option(help="open, fine, void, talk, or any.")] = Outcome.OPEN.value,
    reviewer: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only items assigned to this person, or to nobody.")
    ] = None,
    json: options.Json = False,
) -> int:
    """List the items to review in your courses, newest first."""
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
    say(f"{found.open} items are open in all.{' Filter to see the others.' if found.more else ''}")
    return 0


@inbox.command()
def assign(
    keys: Keys,
    to: Annotated[str, typer.Option("--to", metavar="NAME|nobody", help="The person who reviews them.")],
    json: options.Json = False,
) -> int:
    """Assign items to a person."""
    body = {"keys": keys, "reviewer": None if to == "nobody" else to}
    return _done(connect().post("/inbox/assign", body), json)


@inbox.command()
def decide(
    keys: Keys,
    outcome: Annotated[Outcome, typer.Option("--outcome", "-o", help="The decision.")],
    reason: Annotated[
        str, typer.Option(help="Why; authors of void results and of reports of errors read it.")
    ] = "",
    submission: Annotated[
        list[str] | None,
        typer.Option(
            "--submission", metavar="ID", help="For a pair: the submission whose result is void. Repeatable."
        ),
    ] = None,
    json: options.Json = False,
) -> int:
    """Decide on items: fine, void the result, or talk with the student. All are decided, or none."""
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
    say(f"Follow it with: grader regrade show {found.number} --watch", "dim")
    return 0


def _follow(client: Client, number: int, json: bool, unchanged: bool = False) -> int:
    """A line at each change, and the result at the end."""
    path, last = f"/regrades/{number}", None

    def pause(found: RegradeView) -> float | None:
        nonlocal last
        if found.summary != last:
            last = found.summary
            if json:
                put_json_line({"regrade": found})
            else:
                left = f", about {found.expected_s:.0f} s of a worker left" if found.expected_s else ""
                say(f"{last.total - last.waiting} of {last.total} judged{left}")
        ended = not found.summary.waiting or found.state is not RegradeState.OPEN
        return None if ended else _POLL_S

    until_done(lambda: understood(RegradeView, client.get(path, counts="true")), pause)
    whole = understood(RegradeView, client.get(path))
    if json:
        put_json_line({"regrade": whole})
    else:
        _show(whole, unchanged)
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
    words = [f"{found.unchanged} unchanged, {found.up} up, {found.down} down"]
    words += [f"{found.waiting} waiting"] if found.waiting else []
    words += [f"{found.failed} failed by our fault"] if found.failed else []
    words += [f"{regrade.left_out} left out (their sources were deleted)"] if regrade.left_out else []
    return ", ".join(words)


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(Text(name))
    return table
