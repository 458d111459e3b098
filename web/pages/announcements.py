from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import Blueprint, redirect, render_template, request
from werkzeug.wrappers import Response as BaseResponse

from grader.errors import BadRequest, Conflict, GraderError, TooMany
from grader.schemas.announcement import AnnouncementBody, QuestionAnswer, QuestionBody
from grader.service.competitions import competitions
from grader.service.courses import announcements, assignments, courses
from grader.service.courses.announcements import Kind, Place
from grader.service.courses.permissions import Action
from grader.web import forms
from grader.web.access import PARTY, open_to
from grader.web.auth.identity import current_user
from grader.web.current import platform
from grader.web.pages import markdown
from grader.web.pages.courses import body, given
from grader.web.pages.keys import Page

pages = Blueprint("announcements", __name__)


@pages.get("/courses/<course>/announcements")
@open_to(PARTY, action=Action.COURSE_READ)
def of_course(course: str) -> str:
    """A course's announcements and questions."""
    return _page(Place(Kind.COURSE, course))[0]


@pages.get("/competitions/<slug>/announcements")
@open_to(PARTY)
def of_competition(slug: str) -> str:
    """A competition's announcements and questions."""
    return _page(Place(Kind.COMPETITION, slug))[0]


@pages.post("/courses/<course>/announcements")
@open_to(PARTY, action=Action.ANNOUNCE)
def announce_in_course(course: str) -> BaseResponse | Page:
    """Announce something in a course."""
    return _announce(Place(Kind.COURSE, course))


@pages.post("/competitions/<slug>/announcements")
@open_to(PARTY)
def announce_in_competition(slug: str) -> BaseResponse | Page:
    """Announce something in a competition."""
    return _announce(Place(Kind.COMPETITION, slug))


@pages.post("/courses/<course>/announcements/<int:number>")
@open_to(PARTY, action=Action.ANNOUNCE)
def change_in_course(course: str, number: int) -> BaseResponse | Page:
    """Edit an announcement; nobody is notified again."""
    return _change(Place(Kind.COURSE, course), number)


@pages.post("/competitions/<slug>/announcements/<int:number>")
@open_to(PARTY)
def change_in_competition(slug: str, number: int) -> BaseResponse | Page:
    """Edit an announcement; nobody is notified again."""
    return _change(Place(Kind.COMPETITION, slug), number)


@pages.post("/courses/<course>/announcements/<int:number>/remove")
@open_to(PARTY, action=Action.ANNOUNCE)
def remove_in_course(course: str, number: int) -> BaseResponse | Page:
    """Remove an announcement."""
    return _remove(Place(Kind.COURSE, course), number)


@pages.post("/competitions/<slug>/announcements/<int:number>/remove")
@open_to(PARTY)
def remove_in_competition(slug: str, number: int) -> BaseResponse | Page:
    """Remove an announcement."""
    return _remove(Place(Kind.COMPETITION, slug), number)


@pages.post("/courses/<course>/questions")
@open_to(PARTY, action=Action.QUESTION_ASK)
def ask_in_course(course: str) -> BaseResponse | Page:
    """Ask a course's staff."""
    return _ask(Place(Kind.COURSE, course))


@pages.post("/competitions/<slug>/questions")
@open_to(PARTY)
def ask_in_competition(slug: str) -> BaseResponse | Page:
    """Ask a competition's staff."""
    return _ask(Place(Kind.COMPETITION, slug))


@pages.post("/courses/<course>/questions/<int:number>")
@open_to(PARTY, action=Action.QUESTION_ANSWER)
def answer_in_course(course: str, number: int) -> BaseResponse | Page:
    """Answer a question."""
    return _answer(Place(Kind.COURSE, course), number)


@pages.post("/competitions/<slug>/questions/<int:number>")
@open_to(PARTY)
def answer_in_competition(slug: str, number: int) -> BaseResponse | Page:
    """Answer a question."""
    return _answer(Place(Kind.COMPETITION, slug), number)


def _announce(place: Place) -> BaseResponse | Page:
    def do() -> None:
        asked = body(AnnouncementBody, given("title", "text", "assignment"))
        announcements.announce(platform(), current_user(), place, asked)

    return _do(place, Action.ANNOUNCE, do)


def _change(place: Place, number: int) -> BaseResponse | Page:
    def do() -> None:
        asked = body(AnnouncementBody, given("title", "text", "assignment", "seen"))
        asked = asked.model_copy(update={"seen": asked.seen})
        announcements.change_announcement(platform(), current_user(), place, number, asked)

    return _do(place, Action.ANNOUNCE, do, number)


def _remove(place: Place, number: int) -> BaseResponse | Page:
    def do() -> None:
        announcements.remove_announcement(platform(), current_user(), place, number)

    return _do(place, Action.ANNOUNCE, do)


def _ask(place: Place) -> BaseResponse | Page:
    def do() -> None:
        announcements.ask(platform(), current_user(), place, body(QuestionBody, given("text", "about")))

    return _do(place, Action.QUESTION_ASK, do)


def _answer(place: Place, number: int) -> BaseResponse | Page:
    def do() -> None:
        values: dict[str, Any] = given("answer", "seen") | {"to_all": str(forms.ticked("to_all"))}
        said = body(QuestionAnswer, values)
        said = said.model_copy(update={"seen": said.seen})
        announcements.answer(platform(), current_user(), place, number, said)

    return _do(place, Action.QUESTION_ANSWER, do, number)


def _do(
    place: Place, action: Action, do: Callable[[], None], changed: int | None = None
) -> BaseResponse | Page:
    announcements.check(platform(), current_user(), place, action)
    try:
        do()
    except (BadRequest, Conflict, TooMany) as error:
        return _page(place, error, changed)
    return redirect(place.path, 303)


def _page(place: Place, error: GraderError | None = None, changed: int | None = None) -> Page:
    """``changed``: its change was refused; the form keeps the text."""
    user = current_user()
    announced = announcements.list_announcements(platform(), user, place).announcements
    asked = announcements.list_questions(platform(), user, place).questions
    may = announcements.may(platform(), user, place)
    parts: list[tuple[str, str]]
    if place.kind is Kind.COURSE:
        name = place.slug
        given_out = assignments.list_assignments(platform(), user, place.slug).assignments
        parts = [(assignment.slug, assignment.title) for assignment in given_out]
        with courses.reading(platform(), user, place.slug, Action.COURSE_READ) as opened:
            may |= {action.name.lower(): opened.may(action) for action in Action}
    else:
        view = competitions.get_competition(platform(), user, place.slug)
        name, parts = view.title, [(part.challenge, part.title) for part in view.challenges]
    page = render_template(
        "announcements.html",
        place=place,
        name=name,
        parts=parts,
        titles=dict(parts),
        announced=[(announcement, markdown.remark(announcement.text)) for announcement in announced],
        asked=[
            (question, markdown.remark(question.text), markdown.remark(question.answer)) for question in asked
        ],
        may=may,
        form=request.form if changed is None else {},
        changed=changed,
        error=error,
    )
    return page, error.status if error else 200
