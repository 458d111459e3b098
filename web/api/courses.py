from __future__ import annotations

from flask import Response, request
from pydantic import BaseModel, Field

from grader import limits
from grader.schemas.course import (
    AuditLog,
    CourseBody,
    CourseChange,
    CourseList,
    CourseRole,
    CourseSlug,
    CourseView,
    JoinBody,
    JoinCodeBody,
    JoinCodeList,
    JoinCodeView,
    StaffBody,
)
from grader.schemas.submission import ErrorEnvelope
from grader.service.courses import courses, joining, plans
from grader.service.courses.permissions import Action
from grader.web import throttle
from grader.web.access import PARTY, SIGNED_IN, STAFF, open_to
from grader.web.answers import answer
from grader.web.api.resource import resource
from grader.web.auth.identity import current_user
from grader.web.current import platform

api = resource("courses", "Courses, their staff, and joining")


class CoursePath(BaseModel):
    course: CourseSlug


class StaffPath(CoursePath):
    name: str = Field(max_length=limits.NAME_CHARS)


class NumberPath(CoursePath):
    number: int = Field(ge=1, le=2**31 - 1)


class LogQuery(BaseModel):
    limit: int = Field(default=100, ge=1, le=500)
    older_than: int | None = Field(
        default=None, ge=1, le=2**31 - 1, description="the id of an entry; list those before it"
    )


@api.get("/courses", responses={200: CourseList})
@open_to(SIGNED_IN)
def list_courses() -> Response:
    """The caller's courses and listed ones, newest first."""
    return answer(courses.list_courses(platform(), current_user()))


@api.post("/courses", responses={201: CourseView, 409: ErrorEnvelope})
@open_to(STAFF)
def create_course(body: CourseBody) -> Response:
    """Create a course and become its owner (staff only)."""
    return answer(plans.create_course(platform(), current_user(), body), 201)


@api.post("/courses/join", responses={200: CourseView, 409: ErrorEnvelope})
@open_to(SIGNED_IN)
def join_course(body: JoinBody) -> Response:
    """Become a student with a join code or the key of a personal link. Repeating it is not an error."""
    user = current_user()
    with throttle.join_code(body.key):
        return answer(joining.join(platform(), user, body.key))


@api.get("/courses/<course>", responses={200: CourseView})
@open_to(PARTY, action=Action.COURSE_LISTED)
def get_course(path: CoursePath) -> Response:
    """A course and its staff; for staff also how many students it has."""
    return answer(courses.get_course(platform(), current_user(), path.course))


@api.patch("/courses/<course>", responses={200: CourseView, 409: ErrorEnvelope})
@open_to(PARTY, action=Action.COURSE_EDIT)
def change_course(path: CoursePath, body: CourseChange) -> Response:
    """Change the fields in the body. Only owners may archive a course."""
    return answer(courses.change_course(platform(), current_user(), path.course, body))


@api.put("/courses/<course>/staff/<name>", responses={200: CourseView, 409: ErrorEnvelope})
@open_to(PARTY, action=Action.COURSE_STAFF)
def set_staff(path: StaffPath, body: StaffBody) -> Response:
    """Set or remove somebody's role as staff (owners only). The last owner cannot be removed."""
    role = CourseRole(body.role) if body.role is not None else None
    return answer(courses.set_staff(platform(), current_user(), path.course, path.name, role))


@api.get("/courses/<course>/log", responses={200: AuditLog})
@open_to(PARTY, action=Action.AUDIT_READ)
def get_log(path: CoursePath, query: LogQuery) -> Response:
    """Actions of the course's staff, newest first."""
    found = courses.get_audit(platform(), current_user(), path.course, query.limit, query.older_than)
    return answer(found)


@api.get("/courses/<course>/join-codes", responses={200: JoinCodeList})
@open_to(PARTY, action=Action.ROSTER_EDIT)
def list_codes(path: CoursePath) -> Response:
    """Join codes that still work."""
    return answer(joining.list_codes(platform(), current_user(), path.course, base()))


@api.post("/courses/<course>/join-codes", responses={201: JoinCodeView})
@open_to(PARTY, action=Action.ROSTER_EDIT)
def make_code(path: CoursePath, body: JoinCodeBody) -> Response:
    """Create a join code, for everyone or for one section."""
    return answer(joining.make_code(platform(), current_user(), path.course, body, base()), 201)


@api.delete("/courses/<course>/join-codes/<int:number>", responses={204: None})
@open_to(PARTY, action=Action.ROSTER_EDIT)
def revoke_code(path: NumberPath) -> Response:
    """Revoke a join code; students who joined with it stay."""
    joining.revoke_code(platform(), current_user(), path.course, path.number)
    return Response(status=204)


def base() -> str:
    """For links."""
    return platform().settings.url or request.host_url.rstrip("/")
