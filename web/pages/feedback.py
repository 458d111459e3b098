from __future__ import annotations

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from grader.errors import BadRequest, Conflict, GraderError, TooMany
from grader.schemas.feedback import (
    AnswerBody,
    CriterionBody,
    FeedbackBody,
    FeedbackView,
    RequestBody,
    ScoreBody,
    ScoresBody,
    Shown,
)
from grader.service.courses import assignments, courses, feedback
from grader.service.courses.permissions import Action
from grader.service.review import regrade_requests
from grader.web import forms
from grader.web.access import PARTY, open_to
from grader.web.auth.identity import current_user
from grader.web.current import platform
from grader.web.pages import gradebook, markdown
from grader.web.pages.courses import body, given
from grader.web.pages.keys import Page

pages = Blueprint("feedback", __name__)


@pages.get("/courses/<course>/assignments/<assignment>/feedback")
@open_to(PARTY, action=Action.FEEDBACK_EDIT)
def show(course: str, assignment: str) -> str:
    """When feedback is shown, limits on regrade requests, and the rubric. For instructors."""
    return _show(course, assignment)[0]


@pages.post("/courses/<course>/assignments/<assignment>/feedback")
@open_to(PARTY, action=Action.FEEDBACK_EDIT)
def save(course: str, assignment: str) -> BaseResponse | Page:
    """Change the settings and the rubric."""
    user = current_user()
    courses.check(platform(), user, course, Action.FEEDBACK_EDIT)
    present = feedback.get_feedback(platform(), user, course, assignment)
    try:
        values = given("shown", "regrade_limit", "regrade_until", "revision")
        asked = body(FeedbackBody, values)
        rubric = {
            part: criteria for part in _parts(course, assignment) if (criteria := _criteria(part, present))
        }
        limit = None if "regrade_limit" not in values else asked.regrade_limit
        asked = asked.model_copy(update={"rubric": rubric, "regrade_limit": limit})
        feedback.put_feedback(platform(), user, course, assignment, asked)
    except (BadRequest, Conflict) as error:
        return _show(course, assignment, error)
    return redirect(url_for("feedback.show", course=course, assignment=assignment), 303)


def _parts(course: str, assignment: str) -> list[str]:
    view = assignments.get_assignment(platform(), current_user(), course, assignment)
    return [part.challenge for part in view.parts]


def _criteria(challenge: str, present: FeedbackView) -> list[CriterionBody]:
    """Per line: points, title, and after a | an explanation. A kept title or place keeps points. Raises BadRequest."""
    old = present.rubric.get(challenge, [])
    by_title = {criterion.title.lower(): criterion.id for criterion in old}
    lines = [
        line.strip() for line in request.form.get(f"rubric-{challenge}", "").splitlines() if line.strip()
    ]
    rows = []
    for line in lines:
        points, _, rest = line.partition(" ")
        title, _, about = (part.strip() for part in rest.partition("|"))
        try:
            rows.append((title, about, float(points)))
        except ValueError as error:
            raise BadRequest(
                f"'{line[:60]}' does not begin with points.", "Write a line as: 5 Readability"
            ) from error
    used = {by_title[title.lower()] for title, _, _ in rows if title.lower() in by_title}
    criteria = []
    for place, (title, about, worth) in enumerate(rows):
        found = by_title.get(title.lower())
        if found is None and len(rows) == len(old) and old[place].id not in used:
            found = old[place].id  # renamed
        criteria.append(body(CriterionBody, _given(id=found, title=title, about=about, points=worth)))
    return criteria


def _given(**values: object) -> dict[str, object]:
    return {name: str(value) for name, value in values.items() if value not in (None, "")}


@pages.post("/courses/<course>/assignments/<assignment>/feedback/release")
@open_to(PARTY, action=Action.FEEDBACK_EDIT)
def release(course: str, assignment: str) -> BaseResponse | Page:
    """Show students the feedback that was held back, or hide it again."""
    try:
        feedback.release(platform(), current_user(), course, assignment, not forms.ticked("hold"))
    except Conflict as error:
        return _show(course, assignment, error)
    return redirect(url_for("feedback.show", course=course, assignment=assignment), 303)


def _show(course: str, assignment: str, error: GraderError | None = None) -> Page:
    user = current_user()
    with courses.reading(platform(), user, course, Action.FEEDBACK_EDIT) as opened:
        zone = opened.row.time_zone
    found = feedback.get_feedback(platform(), user, course, assignment)
    texts = {
        challenge: "\n".join(
            f"{criterion.points:g} {criterion.title}{f' | {criterion.about}' if criterion.about else ''}"
            for criterion in criteria
        )
        for challenge, criteria in found.rubric.items()
    }
    until = found.regrade_until
    page = render_template(
        "course/feedback.html",
        found=found,
        parts=_parts(course, assignment),
        rubric={
            part: request.form.get(f"rubric-{part}", texts.get(part, ""))
            for part in _parts(course, assignment)
        },
        until=forms.local_time(until, zone) if until is not None else "",
        zone=zone,
        shown=list(Shown),
        error=error,
    )
    return page, error.status if error else 200


@pages.post("/courses/<course>/grades/<name>/scores")
@open_to(PARTY, action=Action.GRADES_SCORE)
def score(course: str, name: str) -> BaseResponse | Page:
    """Set a student's points by criterion."""
    user = current_user()
    courses.check(platform(), user, course, Action.GRADES_SCORE)
    try:
        if "criterion" not in request.form:
            raise BadRequest("No points were given.", "The assignment has no rubric.")
        if scores := _scores():
            asked = ScoresBody(student=name, scores=scores)
            feedback.put_scores(platform(), user, course, request.form.get("assignment", ""), asked)
    except (BadRequest, Conflict) as error:
        return gradebook.page_of(course, name, error)
    return redirect(url_for("gradebook.of_student", course=course, name=name), 303)


def _scores() -> list[ScoreBody]:
    """Only changed fields: somebody may have set others meanwhile. Raises BadRequest."""
    names = ("criterion", "points", "reason", "seen", "seen_reason")
    rows = zip(*(map(str.strip, request.form.getlist(name)) for name in names), strict=False)
    return [
        _score(criterion, points, reason, seen)
        for criterion, points, reason, seen, seen_reason in rows
        if (points, reason) != (seen, seen_reason)
    ]


def _score(criterion: str, points: str, reason: str, seen: str) -> ScoreBody:
    read = body(ScoreBody, _given(criterion=criterion, points=points or "0", reason=reason, seen=seen))
    return read.model_copy(update={"seen": read.seen, "points": read.points if points else None})


@pages.get("/courses/<course>/regrade-requests")
@open_to(PARTY, action=Action.REGRADE_READ)
def requests(course: str) -> str:
    """Regrade requests: all for staff, their own for students."""
    return _requests(course)[0]


@pages.post("/courses/<course>/regrade-requests")
@open_to(PARTY, action=Action.REGRADE_ASK)
def ask(course: str) -> BaseResponse | Page:
    """Request a regrade of a part."""
    try:
        courses.check(platform(), current_user(), course, Action.REGRADE_ASK)
        asked = body(RequestBody, given("assignment", "challenge", "submission", "text"))
        regrade_requests.ask(platform(), current_user(), course, asked)
    except (BadRequest, Conflict, TooMany) as error:
        return _requests(course, error)
    return redirect(url_for("feedback.requests", course=course), 303)


@pages.post("/courses/<course>/regrade-requests/<int:number>")
@open_to(PARTY, action=Action.REGRADE_ANSWER)
def answer(course: str, number: int) -> BaseResponse | Page:
    """Grant or decline a request."""
    try:
        courses.check(platform(), current_user(), course, Action.REGRADE_ANSWER)
        asked = body(AnswerBody, given("state", "reason"))
        regrade_requests.answer(platform(), current_user(), course, number, asked)
    except (BadRequest, Conflict) as error:
        return _requests(course, error)
    return redirect(url_for("feedback.requests", course=course), 303)


@pages.post("/courses/<course>/regrade-requests/<int:number>/withdraw")
@open_to(PARTY, action=Action.REGRADE_ASK)
def withdraw(course: str, number: int) -> BaseResponse | Page:
    """Withdraw your request."""
    try:
        regrade_requests.withdraw(platform(), current_user(), course, number)
    except Conflict as error:
        return _requests(course, error)
    return redirect(url_for("feedback.requests", course=course), 303)


def _requests(course: str, error: GraderError | None = None) -> Page:
    user = current_user()
    found = regrade_requests.list_requests(platform(), user, course)
    with courses.reading(platform(), user, course, Action.REGRADE_READ) as opened:
        may = {action.name.lower(): opened.may(action) for action in Action}
    page = render_template(
        "course/regrade_requests.html",
        found=found,
        may=may,
        html={
            asked.number: (markdown.remark(asked.text), markdown.remark(asked.answer))
            for asked in found.requests
        },
        error=error,
    )
    return page, error.status if error else 200
