from __future__ import annotations

from flask import Response
from pydantic import BaseModel, ConfigDict, Field, StrictBool

from grader import limits
from grader.schemas.feedback import (
    AnswerBody,
    FeedbackBody,
    FeedbackView,
    RequestBody,
    RequestList,
    ScoresBody,
    ScoreSheet,
)
from grader.schemas.strict import Strict
from grader.service.courses import feedback
from grader.service.courses.permissions import Action
from grader.service.review import regrade_requests
from grader.web.access import PARTY, in_course, open_to
from grader.web.answers import answer
from grader.web.api.assignments import AssignmentPath
from grader.web.api.courses import CoursePath
from grader.web.api.resource import resource
from grader.web.auth.identity import current_user
from grader.web.current import platform

api = resource("feedback", "Rubrics and regrade requests")

_AT = "/courses/<course>/assignments/<assignment>/feedback"
_SCORES = "/courses/<course>/assignments/<assignment>/scores"
_REQUESTS = "/courses/<course>/regrade-requests"


class RequestPath(CoursePath):
    number: int = Field(ge=1, le=2**31 - 1)


class ScoresQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    student: str = Field(max_length=limits.NAME_CHARS)


class ReleaseBody(Strict):
    """False hides it again."""

    released: StrictBool = True


@api.get(_AT, responses={200: FeedbackView})
@open_to(PARTY, action=Action.ASSIGNMENT_READ)
def get_feedback(path: AssignmentPath) -> Response:
    """The rubric, when feedback is shown, and how many regrades the caller may still request."""
    return answer(feedback.get_feedback(platform(), current_user(), path.course, path.assignment))


@api.put(_AT, responses={200: FeedbackView})
@open_to(PARTY, action=Action.FEEDBACK_EDIT)
def put_feedback(path: AssignmentPath, body: FeedbackBody) -> Response:
    """Change settings and rubric (instructors)."""
    return answer(feedback.put_feedback(platform(), current_user(), path.course, path.assignment, body))


@api.post(f"{_AT}/release", responses={200: FeedbackView})
@open_to(PARTY, action=Action.FEEDBACK_EDIT)
def release_feedback(path: AssignmentPath, body: ReleaseBody) -> Response:
    """Show students held-back comments and rubric points, and notify them (instructors only)."""
    found = feedback.release(platform(), current_user(), path.course, path.assignment, body.released)
    return answer(found)


@api.get(_SCORES, responses={200: ScoreSheet})
@open_to(PARTY, in_course(Action.GRADES_READ), action=Action.GRADES_READ)
def get_scores(path: AssignmentPath, query: ScoresQuery) -> Response:
    """A student's points by criterion (staff only)."""
    return answer(
        feedback.get_scores(platform(), current_user(), path.course, path.assignment, query.student)
    )


@api.put(_SCORES, responses={200: ScoreSheet})
@open_to(PARTY, action=Action.GRADES_SCORE)
def put_scores(path: AssignmentPath, body: ScoresBody) -> Response:
    """Set or remove a student's points by criterion (staff of the course)."""
    return answer(feedback.put_scores(platform(), current_user(), path.course, path.assignment, body))


@api.get(_REQUESTS, responses={200: RequestList})
@open_to(PARTY, action=Action.REGRADE_READ)
def list_requests(path: CoursePath) -> Response:
    """Regrade requests: all for staff, the caller's for students."""
    return answer(regrade_requests.list_requests(platform(), current_user(), path.course))


@api.post(_REQUESTS, responses={201: RequestList})
@open_to(PARTY, action=Action.REGRADE_ASK)
def ask_for_regrade(path: CoursePath, body: RequestBody) -> Response:
    """Request a regrade of a part (students)."""
    return answer(regrade_requests.ask(platform(), current_user(), path.course, body), 201)


@api.patch(f"{_REQUESTS}/<int:number>", responses={200: RequestList})
@open_to(PARTY, action=Action.REGRADE_ANSWER)
def answer_request(path: RequestPath, body: AnswerBody) -> Response:
    """Grant or decline a request, with a reason (staff of the course)."""
    return answer(regrade_requests.answer(platform(), current_user(), path.course, path.number, body))


@api.post(f"{_REQUESTS}/<int:number>/withdraw", responses={200: RequestList})
@open_to(PARTY, action=Action.REGRADE_ASK)
def withdraw_request(path: RequestPath) -> Response:
    """Withdraw your request (students)."""
    return answer(regrade_requests.withdraw(platform(), current_user(), path.course, path.number))
