"""`feedback`: rubrics, points by them, and what students ask to have looked at again."""

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
    """Show an assignment's rubric, when feedback is shown, and how many regrades you may ask for."""
    return _show(understood(FeedbackView, connect().get(f"{_path(course, slug)}/feedback")), json)


@feedback.command(name="set")
def set_feedback(
    course: Course,
    slug: Slug,
    shown: Annotated[
        Literal["at_once", "on_release"] | None, typer.Option(help="When students read the staff's feedback.")
    ] = None,
    regrades: Annotated[
        str | None, typer.Option(metavar="N|any", help="How many regrades a student may ask for.")
    ] = None,
    regrade_until: Annotated[
        str | None, typer.Option(metavar="TIME|none", help="Until when, in the course's zone.")
    ] = None,
    criterion: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SLUG:POINTS:TITLE", help="A criterion of a challenge; several make its whole rubric."
        ),
    ] = None,
    json: options.Json = False,
) -> int:
    """Change when feedback is shown, regrade requests, and the rubric of challenges."""
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
        known = {it.title.lower(): it for it in present.rubric.get(challenge, [])}
        if (same := known.get(wanted["title"].lower())) is not None:
            wanted |= {"id": same.id, "about": same.about}
        named.setdefault(challenge, []).append(wanted)
    body["rubric"] |= named
    return _show(understood(FeedbackView, client.put(path, body)), json)


def _count(text: str) -> int:
    if not text.isdecimal():
        raise BadRequest(f"'{text}' is no number of regrades.", "Write a number, or any.")
    return int(text)


def _criterion(text: str) -> tuple[str, dict[str, Any]]:
    challenge, _, rest = text.partition(":")
    points, _, title = rest.partition(":")
    try:
        return challenge, {"title": title.strip(), "points": float(points)}
    except ValueError as error:
        raise BadRequest(f"'{text}' is no criterion.", "Such as vector_add:5:Readability.") from error


@feedback.command()
def release(
    course: Course,
    slug: Slug,
    hold: Annotated[bool, typer.Option("--hold", help="Keep it back again.")] = False,
    json: options.Json = False,
) -> int:
    """Let students read what was kept back, and tell them."""
    answer = connect().post(f"{_path(course, slug)}/feedback/release", {"released": not hold})
    return _show(understood(FeedbackView, answer), json)


@feedback.command()
def score(
    course: Course,
    slug: Slug,
    student: Annotated[str, typer.Argument(metavar="NAME", help="The student.")],
    give: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CRITERION=POINTS", help="Points for a criterion, by number; none takes them back."
        ),
    ] = None,
    reason: Annotated[str, typer.Option(help="Why; the student reads it.")] = "",
    json: options.Json = False,
) -> int:
    """Show what a student has by the rubric, or give points (staff only)."""
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
    for it in found.scores:
        rows.add_row(
            str(it.criterion.id),
            safe(it.challenge, "cyan"),
            safe(it.criterion.title),
            points(it.points) if it.points is not None else "",
            points(it.criterion.points),
            safe(it.reason),
            safe(it.made_by or ""),
        )
    put_table(rows)
    return 0


def _score(text: str, reason: str) -> dict[str, Any]:
    number, _, points = text.partition("=")
    try:
        given = None if points == "none" else float(points)
        return {"criterion": int(number), "points": given, "reason": reason}
    except ValueError as error:
        raise BadRequest(f"'{text}' gives no points.", "Write 12=4.5, or 12=none.") from error


@feedback.command()
def ask(
    course: Course,
    slug: Slug,
    challenge: Annotated[str, typer.Argument(metavar="SLUG", help="The challenge of the assignment.")],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What should be looked at again, and why.")],
    submission: Annotated[
        str | None, typer.Option(metavar="ID", help="Your submission that it is about.")
    ] = None,
    json: options.Json = False,
) -> int:
    """Ask for a regrade of a part of an assignment."""
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
    for it in found.requests:
        rows.add_row(
            str(it.number),
            safe(it.student, "cyan"),
            safe(it.assignment),
            safe(it.challenge),
            it.state.value,
            moment(it.created_at),
            safe(it.text),
            safe(it.answer),
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
    tell(f"{most} regrade requests of each student{until}{left}")
    rows = table("criterion", "challenge", "points", "title", "about")
    for challenge, criteria in found.rubric.items():
        for it in criteria:
            rows.add_row(
                str(it.id), safe(challenge, "cyan"), points(it.points), safe(it.title), safe(it.about)
            )
    put_table(rows)
    return 0


def _path(course: str, slug: str) -> str:
    return f"/courses/{segment(course)}/assignments/{segment(slug)}"


def _requests_path(course: str) -> str:
    return f"/courses/{segment(course)}/regrade-requests"
