from __future__ import annotations

from flask import Response
from pydantic import Field

from grader.schemas.assignment import (
    AssignmentBody,
    AssignmentList,
    AssignmentView,
    ExtensionBody,
    ExtensionList,
    PublishAssignmentBody,
)
from grader.schemas.course import CourseSlug
from grader.schemas.submission import ErrorEnvelope
from grader.service.courses import assignments, extensions
from grader.service.courses.permissions import Action
from grader.web.access import PARTY, open_to
from grader.web.answers import answer
from grader.web.api.courses import CoursePath
from grader.web.api.resource import resource
from grader.web.auth.identity import current_user
from grader.web.current import platform

api = resource("assignments", "Assignments and extensions")


class AssignmentPath(CoursePath):
    assignment: CourseSlug


class ExtensionPath(AssignmentPath):
    number: int = Field(ge=1, le=2**31 - 1)


@api.get("/courses/<course>/assignments", responses={200: AssignmentList})
@open_to(PARTY, action=Action.ASSIGNMENT_READ)
def list_assignments(path: CoursePath) -> Response:
    """Assignments by deadline, with the caller's extensions; drafts for staff only."""
    return answer(assignments.list_assignments(platform(), current_user(), path.course))


@api.get("/courses/<course>/assignments/<assignment>", responses={200: AssignmentView})
@open_to(PARTY, action=Action.ASSIGNMENT_READ)
def get_assignment(path: AssignmentPath) -> Response:
    """One assignment; for a student with the attempts that are left."""
    return answer(assignments.get_assignment(platform(), current_user(), path.course, path.assignment))


@api.put("/courses/<course>/assignments/<assignment>", responses={200: AssignmentView, 409: ErrorEnvelope})
@open_to(PARTY, action=Action.ASSIGNMENT_EDIT)
def put_assignment(path: AssignmentPath, body: AssignmentBody) -> Response:
    """Create or change an assignment. A new one is a draft."""
    return answer(assignments.put_assignment(platform(), current_user(), path.course, path.assignment, body))


@api.delete("/courses/<course>/assignments/<assignment>", responses={204: None, 409: ErrorEnvelope})
@open_to(PARTY, action=Action.ASSIGNMENT_EDIT)
def delete_assignment(path: AssignmentPath) -> Response:
    """Delete a draft."""
    assignments.delete_assignment(platform(), current_user(), path.course, path.assignment)
    return Response(status=204)


@api.post(
    "/courses/<course>/assignments/<assignment>/publish", responses={200: AssignmentView, 409: ErrorEnvelope}
)
@open_to(PARTY, action=Action.ASSIGNMENT_EDIT)
def publish_assignment(path: AssignmentPath, body: PublishAssignmentBody) -> Response:
    """Show an assignment to students, or hide it again if nobody has submitted for it."""
    found = assignments.publish_assignment(
        platform(), current_user(), path.course, path.assignment, body.published
    )
    return answer(found)


@api.get("/courses/<course>/assignments/<assignment>/extensions", responses={200: ExtensionList})
@open_to(PARTY, action=Action.EXTENSION_GRANT)
def list_extensions(path: AssignmentPath) -> Response:
    """Students and sections with other times, newest first."""
    return answer(extensions.list_extensions(platform(), current_user(), path.course, path.assignment))


@api.put(
    "/courses/<course>/assignments/<assignment>/extensions",
    responses={200: ExtensionList, 409: ErrorEnvelope},
)
@open_to(PARTY, action=Action.EXTENSION_GRANT)
def extend(path: AssignmentPath, body: ExtensionBody) -> Response:
    """Set other times for a student, a section or each present member of a group; works after the deadline, too."""
    return answer(extensions.extend(platform(), current_user(), path.course, path.assignment, body))


@api.delete(
    "/courses/<course>/assignments/<assignment>/extensions/<int:number>",
    responses={200: ExtensionList, 409: ErrorEnvelope},
)
@open_to(PARTY, action=Action.EXTENSION_GRANT)
def take_back_extension(path: ExtensionPath) -> Response:
    """Remove an extension; the assignment's own times apply again."""
    found = extensions.take_back_extension(
        platform(), current_user(), path.course, path.assignment, path.number
    )
    return answer(found)
