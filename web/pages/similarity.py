from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from grader.errors import BadRequest, GraderError
from grader.schemas.similarity import Decision, DecisionBody
from grader.service.courses import courses
from grader.service.courses.permissions import Action
from grader.service.review import similarity
from grader.web import assets, throttle
from grader.web.access import PARTY, open_to
from grader.web.auth.identity import current_user
from grader.web.current import platform
from grader.web.pages import code
from grader.web.pages.keys import Page

pages = Blueprint("similarity", __name__)


@pages.get("/courses/<course>/assignments/<assignment>/similarity")
@open_to(PARTY, action=Action.SIMILARITY)
def show(course: str, assignment: str) -> str:
    """The last comparison."""
    found = similarity.read(platform(), current_user(), course, assignment)
    return render_template("course/similarity.html", found=found)


@pages.post("/courses/<course>/assignments/<assignment>/similarity")
@open_to(PARTY, action=Action.SIMILARITY)
@throttle.costly_limit
def compare(course: str, assignment: str) -> BaseResponse:
    """Compare the counting submissions now."""
    similarity.compare(platform(), current_user(), course, assignment)
    return redirect(url_for("similarity.show", course=course, assignment=assignment), 303)


@pages.get("/courses/<course>/assignments/<assignment>/similarity/<int:number>")
@open_to(PARTY, action=Action.SIMILARITY)
@throttle.costly_limit
def pair(course: str, assignment: str, number: int) -> str:
    """Both sources, with matching lines marked."""
    return _pair(course, assignment, number)[0]


@pages.post("/courses/<course>/assignments/<assignment>/similarity/<int:number>")
@open_to(PARTY, action=Action.SIMILARITY_DECIDE)
def decide(course: str, assignment: str, number: int) -> BaseResponse | Page:
    """Confirm, dismiss or reopen a pair."""
    try:
        try:
            decision = Decision(request.form.get("decision", ""))
        except ValueError as error:
            raise BadRequest("Choose a decision for the pair.") from error
        body = DecisionBody.model_construct(decision=decision, reason=request.form.get("reason", ""))
        similarity.decide(platform(), current_user(), course, assignment, number, body)
    except BadRequest as error:
        return _pair(course, assignment, number, error)
    return redirect(url_for("similarity.show", course=course, assignment=assignment), 303)


@dataclass(frozen=True)
class Line:
    """``matches``: numbers of matching lines on the other side."""

    number: int
    text: str
    matches: list[int]


def _pair(course: str, assignment: str, number: int, error: GraderError | None = None) -> Page:
    user = current_user()
    found = similarity.sources(platform(), user, course, assignment, number)
    with courses.reading(platform(), user, course, Action.SIMILARITY) as opened:
        decides = opened.may(Action.SIMILARITY_DECIDE)
    left: defaultdict[int, list[int]] = defaultdict(list)
    right: defaultdict[int, list[int]] = defaultdict(list)
    for match in found.matches:
        left[match.left].append(match.right)
        right[match.right].append(match.left)
    sides = [
        (side, [Line(at, text, matches[at]) for at, text in enumerate(code.lines(source), 1)])
        for side, source, matches in (
            (found.pair.left, found.left, left),
            (found.pair.right, found.right, right),
        )
    ]
    page = render_template(
        "course/similar_pair.html",
        course=course,
        assignment=assignment,
        found=found,
        sides=sides,
        decides=decides,
        error=error,
        highlighter=assets.built("listing.js"),
    )
    return page, error.status if error else 200
