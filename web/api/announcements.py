from __future__ import annotations

from typing import Any

from flask import Response
from pydantic import Field

from grader.schemas.announcement import (
    AnnouncementBody,
    AnnouncementList,
    QuestionAnswer,
    QuestionBody,
    QuestionList,
)
from grader.service.accounts.accounts import User
from grader.service.courses import announcements
from grader.service.courses.announcements import Kind, Place
from grader.service.courses.permissions import Action
from grader.web.access import PARTY, Check, open_to
from grader.web.answers import answer
from grader.web.api.competitions import CompetitionPath
from grader.web.api.courses import CoursePath
from grader.web.api.resource import resource
from grader.web.auth.identity import current_user
from grader.web.current import platform

api = resource("announcements", "Announcements and questions")

_COURSE, _COMPETITION = "/courses/<course>", "/competitions/<slug>"


class InCourse(CoursePath):
    number: int = Field(ge=1, le=2**31 - 1)


class InCompetition(CompetitionPath):
    number: int = Field(ge=1, le=2**31 - 1)


def _place(at: dict[str, Any]) -> Place:
    return Place(Kind.COURSE, at["course"]) if "course" in at else Place(Kind.COMPETITION, at["slug"])


def _of(path: CoursePath | CompetitionPath) -> Place:
    return _place(path.model_dump())


def _may(action: Action) -> Check:
    def check(user: User, at: dict[str, Any]) -> None:
        announcements.check(platform(), user, _place(at), action)

    return check


@api.get(f"{_COURSE}/announcements", responses={200: AnnouncementList})
@open_to(PARTY, action=Action.COURSE_READ)
def list_of_course(path: CoursePath) -> Response:
    """A course's announcements, newest first."""
    return answer(announcements.list_announcements(platform(), current_user(), _of(path)))


@api.get(f"{_COMPETITION}/announcements", responses={200: AnnouncementList})
@open_to(PARTY)
def list_of_competition(path: CompetitionPath) -> Response:
    """A competition's announcements, newest first."""
    return answer(announcements.list_announcements(platform(), current_user(), _of(path)))


@api.post(f"{_COURSE}/announcements", responses={201: AnnouncementList})
@open_to(PARTY, action=Action.ANNOUNCE)
def announce_in_course(path: CoursePath, body: AnnouncementBody) -> Response:
    """Announce something to everyone in a course (course staff only)."""
    return answer(announcements.announce(platform(), current_user(), _of(path), body), 201)


@api.post(f"{_COMPETITION}/announcements", responses={201: AnnouncementList})
@open_to(PARTY, _may(Action.ANNOUNCE))
def announce_in_competition(path: CompetitionPath, body: AnnouncementBody) -> Response:
    """Announce something to all participants (staff only)."""
    return answer(announcements.announce(platform(), current_user(), _of(path), body), 201)


@api.put(f"{_COURSE}/announcements/<int:number>", responses={200: AnnouncementList})
@open_to(PARTY, action=Action.ANNOUNCE)
def change_in_course(path: InCourse, body: AnnouncementBody) -> Response:
    """Edit an announcement without notifying again (course staff only)."""
    found = announcements.change_announcement(platform(), current_user(), _of(path), path.number, body)
    return answer(found)


@api.put(f"{_COMPETITION}/announcements/<int:number>", responses={200: AnnouncementList})
@open_to(PARTY, _may(Action.ANNOUNCE))
def change_in_competition(path: InCompetition, body: AnnouncementBody) -> Response:
    """Edit an announcement without notifying again (staff only)."""
    found = announcements.change_announcement(platform(), current_user(), _of(path), path.number, body)
    return answer(found)


@api.delete(f"{_COURSE}/announcements/<int:number>", responses={200: AnnouncementList})
@open_to(PARTY, action=Action.ANNOUNCE)
def remove_in_course(path: InCourse) -> Response:
    """Remove an announcement (course staff only)."""
    return answer(announcements.remove_announcement(platform(), current_user(), _of(path), path.number))


@api.delete(f"{_COMPETITION}/announcements/<int:number>", responses={200: AnnouncementList})
@open_to(PARTY)
def remove_in_competition(path: InCompetition) -> Response:
    """Remove an announcement (staff only)."""
    return answer(announcements.remove_announcement(platform(), current_user(), _of(path), path.number))


@api.get(f"{_COURSE}/questions", responses={200: QuestionList})
@open_to(PARTY, action=Action.QUESTION_READ)
def questions_of_course(path: CoursePath) -> Response:
    """Staff get all questions; students their own and those answered to everyone."""
    return answer(announcements.list_questions(platform(), current_user(), _of(path)))


@api.get(f"{_COMPETITION}/questions", responses={200: QuestionList})
@open_to(PARTY)
def questions_of_competition(path: CompetitionPath) -> Response:
    """Staff get all questions; others their own and those answered to everyone."""
    return answer(announcements.list_questions(platform(), current_user(), _of(path)))


@api.post(f"{_COURSE}/questions", responses={201: QuestionList})
@open_to(PARTY, action=Action.QUESTION_ASK)
def ask_in_course(path: CoursePath, body: QuestionBody) -> Response:
    """Ask the course's staff (students only)."""
    return answer(announcements.ask(platform(), current_user(), _of(path), body), 201)


@api.post(f"{_COMPETITION}/questions", responses={201: QuestionList})
@open_to(PARTY, _may(Action.QUESTION_ASK))
def ask_in_competition(path: CompetitionPath, body: QuestionBody) -> Response:
    """Ask the competition's staff (participants only)."""
    return answer(announcements.ask(platform(), current_user(), _of(path), body), 201)


@api.put(f"{_COURSE}/questions/<int:number>", responses={200: QuestionList})
@open_to(PARTY, action=Action.QUESTION_ANSWER)
def answer_in_course(path: InCourse, body: QuestionAnswer) -> Response:
    """Answer a question, to its author or to everyone (course staff only)."""
    return answer(announcements.answer(platform(), current_user(), _of(path), path.number, body))


@api.put(f"{_COMPETITION}/questions/<int:number>", responses={200: QuestionList})
@open_to(PARTY, _may(Action.QUESTION_ANSWER))
def answer_in_competition(path: InCompetition, body: QuestionAnswer) -> Response:
    """Answer a question, to its author or to everyone (staff only)."""
    return answer(announcements.answer(platform(), current_user(), _of(path), path.number, body))
