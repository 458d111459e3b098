"""`feedback`: rubrics, points by rubric, and regrade requests."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from grader.cli import options
from grader.cli.client import connect, segment, understood
from grader.cli.command import make_app
from grader.cli.commands.grading import Course, Slug
from grader.cli.terminal import moment, put_json, put_table, safe, say, table, tell
from grader.errors import BadRequest
from grader.formats import points
from grader.schemas.feedback import FeedbackView, RequestList, ScoreSheet

app = make_app(remote=True)
feedback = make_app(remote=True)
app.add_typer(feedback, name="feedback", help="Manage rubrics and regrade requests.")


@feedback.command()
def show(course: Course, slug: Slug, json: options.Json = False) -> int:
    """Show an assignment's rubric, when feedback is shown, and how many regrades you may request."""
    return _show(understood(FeedbackView, connect().get(f"{_path(course, slug)}/feedback")), json)


@feedback.command(name="set")
def set_feedback(
    course: Course,
    slug: Slug,
    shown: Annotated[
        Literal["at_once", "on_release"] | None, typer.Option(help="When students read the staff's feedback.")
    ] = None,
    regrades: Annotated[
        str | None, typer.Option(metavar="N|any", help="How many regrades a student may request.")
    ] = None,
    regrade_until: Annotated[
        str | None,
        typer.Option(metavar="TIME|none", help="The end of regrade requests, in the course's zone."),
    ] = None,
    criterion: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SLUG:POINTS:TITLE", help="A criterion of a challenge. Repeat it for the whole rubric."
        ),
    ] = None,
    json: options.Json = False,
) -> int:
    """Change when feedback is shown, the limits of regrade requests, and rubrics."""
    client, path = connect(), f"{_path(course, slug)}/feedback"
    present = understood(FeedbackView, client.get(path))
    body: dict[str, Any] = present.model_dump(
        mode="json", include={"shown", "regrade_limit", "regrade_until", "rubric", "revision"}
    )
    if shown is not None:
        body["shown"] = shown
    if regrades is not None:
        body["regrade_limit"] = None if regrades == "any" else _count(regrades)
    if regrade_until is not None:
        body["regrade_until"] = None if regrade_until == "none" else regrade_until
    named: dict[str, list[dict[str, Any]]] = {}
    for text in criterion or []:
        challenge, wanted = _criterion(text)
        known = {criterion.title.lower(): criterion for criterion in present.rubric.get(challenge, [])}
        if (same := known.get(wanted["title"].lower())) is not None:
            wanted |= {"id": same.id, "about": same.about}
        named.setdefault(challenge, []).append(wanted)
    body["rubric"] |= named
    return _show(understood(FeedbackView, client.put(path, body)), json)


def _count(text: str) -> int:
    if not text.isdecimal():
        raise BadRequest(f"'{text}' is not a number of regrades.", "Write a number, or any.")
    return int(text)


def _criterion(text: str) -> tuple[str, dict[str, Any]]:
    challenge, _, rest = text.partition(":")
    points, _, title = rest.partition(":")
    try:
        return challenge, {"title": title.strip(), "points": float(points)}
    except ValueError as error:
        raise BadRequest(f"'{text}' is not a criterion.", "Write one as vector_add:5:Readability.") from error


@feedback.command()
def release(
    course: Course,
    slug: Slug,
    json: options.Json = False,
) -> int:
    """Let students read the feedback that was held back, and notify them."""
    answer = connect().post(f"{_path(course, slug)}/feedback/release", {"released": True})
    return _show(understood(FeedbackView, answer), json)


@feedback.command()
def score(
    course: Course,
    slug: Slug,
    student: Annotated[str, typer.Argument(metavar="NAME", help="The student.")],
    give: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CRITERION=POINTS", help="Points for a criterion, by number; none removes them."
        ),
    ] = None,
    reason: Annotated[str, typer.Option(help="Why; the student reads it.")] = "",
    json: options.Json = False,
) -> int:
    """Show a student's points by the rubric, or give points (staff only)."""
    client, path = connect(), f"{_path(course, slug)}/scores"
    if give:
        body = {"student": student, "scores": [_score(text, reason) for text in give]}
        answer = client.put(path, body)
    else:
        answer = client.get(path, student=student)
    found = understood(ScoreSheet, answer)
    if json:
        put_json(found)
        return 0
    rows = table("criterion", "challenge", "title", "points", "of", "why", "by")
    for entry in found.scores:
        rows.add_row(
            str(entry.criterion.id),
            safe(entry.challenge, "cyan"),
            safe(entry.criterion.title),
            points(entry.points) if entry.points is not None else "",
            points(entry.criterion.points),
            safe(entry.reason),
            safe(entry.made_by or ""),
        )
    put_table(rows)
    return 0


def _score(text: str, reason: str) -> dict[str, Any]:
    number, _, points = text.partition("=")
    try:
        given = None if points == "none" else float(points)
        return {"criterion": int(number), "points": given, "reason": reason}
    except ValueError as error:
        raise BadRequest(f"'{text}' is not points for a criterion.", "Write 12=4.5, or 12=none.") from error


@feedback.command()
def ask(
    course: Course,
    slug: Slug,
    challenge: Annotated[str, typer.Argument(metavar="SLUG", help="The challenge of the assignment.")],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to regrade, and why.")],
    submission: Annotated[
        str | None, typer.Option(metavar="ID", help="The submission that the request is about.")
    ] = None,
    json: options.Json = False,
) -> int:
    """Request a regrade of a part of an assignment."""
    body = {"assignment": slug, "challenge": challenge, "text": text, "submission": submission}
    return _requests(understood(RequestList, connect().post(_requests_path(course), body)), json)


@feedback.command()
def requests(
    course: Course,
    grant: Annotated[int | None, typer.Option(metavar="NUMBER", min=1, help="Grant a request.")] = None,
    decline: Annotated[int | None, typer.Option(metavar="NUMBER", min=1, help="Decline a request.")] = None,
    withdraw: Annotated[int | None, typer.Option(metavar="NUMBER", min=1, help="Withdraw yours.")] = None,
    reason: Annotated[str, typer.Option(help="Why; the student reads it.")] = "",
    json: options.Json = False,
) -> int:
    """List regrade requests, answer one (staff), or withdraw your own."""
    client, path = connect(), _requests_path(course)
    answer = None
    for number, state in ((grant, "granted"), (decline, "declined")):
        if number is not None:
            answer = client.patch(f"{path}/{number}", {"state": state, "reason": reason})
    if withdraw is not None:
        answer = client.post(f"{path}/{withdraw}/withdraw", {})
    return _requests(understood(RequestList, answer if answer is not None else client.get(path)), json)


def _requests(found: RequestList, json: bool) -> int:
    if json:
        put_json(found)
        return 0
    rows = table("number", "student", "assignment", "challenge", "state", "asked", "what", "answer")
    for request in found.requests:
        rows.add_row(
            str(request.number),
            safe(request.student, "cyan"),
            safe(request.assignment),
            safe(request.challenge),
            request.state.value,
            moment(request.created_at),
            safe(request.text),
            safe(request.answer),
        )
    put_table(rows)
    return 0


def _show(found: FeedbackView, json: bool) -> int:
    if json:
        put_json(found)
        return 0
    released = f", released {moment(found.released_at)}" if found.released_at else ""
    say(f"Feedback on {found.course}/{found.assignment}", "bold")
    tell(f"shown {found.shown.value.replace('_', ' ')}{released}")
    most = "any number of" if found.regrade_limit is None else str(found.regrade_limit)
    left = "" if found.requests_left is None else f"; you have {found.requests_left} left"
    until = f" until {moment(found.regrade_until)}" if found.regrade_until else ""
    tell(f"{most} regrade requests for each student{until}{left}")
    rows = table("criterion", "challenge", "points", "title", "about")
    for challenge, criteria in found.rubric.items():
        for criterion in criteria:
            rows.add_row(
                str(criterion.id),
                safe(challenge, "cyan"),
                points(criterion.points),
                safe(criterion.title),
                safe(criterion.about),
            )
    put_table(rows)
    return 0


def _path(course: str, slug: str) -> str:
    return f"/courses/{segment(course)}/assignments/{segment(slug)}"


def _requests_path(course: str) -> str:
    return f"/courses/{segment(course)}/regrade-requests"
