from __future__ import annotations

from flask import Response
from pydantic import BaseModel, Field

from grader.schemas.lti import (
    LtiCourse,
    LtiPlatformBody,
    LtiPlatformChange,
    LtiPlatformList,
    LtiPlatformView,
    LtiReleaseBody,
    LtiSendBody,
)
from grader.schemas.submission import ErrorEnvelope
from grader.service.courses.permissions import Action
from grader.service.lti import linked_courses
from grader.service.lti import platforms as lti_platforms
from grader.web.access import ADMINS, PARTY, open_to
from grader.web.answers import answer
from grader.web.api.courses import CoursePath, NumberPath
from grader.web.api.resource import resource
from grader.web.auth.identity import current_user
from grader.web.current import platform

api = resource("lti", "Learning platforms, such as Canvas and Moodle")


class PlatformPath(BaseModel):
    number: int = Field(ge=1, le=2**31 - 1)


@api.get("/lti/platforms", responses={200: LtiPlatformList})
@open_to(ADMINS)
def list_platforms() -> Response:
    """Registered platforms, and the addresses to enter there (admins only)."""
    return answer(lti_platforms.list_platforms(platform(), current_user()))


@api.post("/lti/platforms", responses={201: LtiPlatformView, 409: ErrorEnvelope})
@open_to(ADMINS)
def add_platform(body: LtiPlatformBody) -> Response:
    """Register a platform (admins only). For Canvas and Moodle the site's address is enough."""
    return answer(lti_platforms.add_platform(platform(), current_user(), body), 201)


@api.patch("/lti/platforms/<int:number>", responses={200: LtiPlatformView})
@open_to(ADMINS)
def change_platform(path: PlatformPath, body: LtiPlatformChange) -> Response:
    """Change the fields in the body: deployments, hosts, who gets an account (admins only)."""
    return answer(lti_platforms.change_platform(platform(), current_user(), path.number, body))


@api.delete("/lti/platforms/<int:number>", responses={200: LtiPlatformList})
@open_to(ADMINS)
def remove_platform(path: PlatformPath) -> Response:
    """Remove a platform with its links to courses; accounts and grades stay (admins only)."""
    lti_platforms.remove_platform(platform(), current_user(), path.number)
    return answer(lti_platforms.list_platforms(platform(), current_user()))


@api.post("/lti/keys", responses={200: LtiPlatformList})
@open_to(ADMINS)
def rotate_key() -> Response:
    """Replace the signing key; the previous one stays published until the next rotation (admins only)."""
    lti_platforms.rotate_key(platform(), current_user())
    return answer(lti_platforms.list_platforms(platform(), current_user()))


@api.get("/courses/<course>/lti", responses={200: LtiCourse})
@open_to(PARTY, action=Action.LTI_READ)
def get_course(path: CoursePath) -> Response:
    """Linked courses on learning platforms, their links, and the grades sent (staff only)."""
    return answer(linked_courses.read(platform(), current_user(), path.course))


@api.delete("/courses/<course>/lti/<int:number>", responses={200: LtiCourse, 409: ErrorEnvelope})
@open_to(PARTY, action=Action.LTI_LINK)
def unlink(path: NumberPath) -> Response:
    """Unlink a platform's course from this one (owners only)."""
    return answer(linked_courses.unlink(platform(), current_user(), path.course, path.number))


@api.put("/courses/<course>/lti/links/<int:number>", responses={200: LtiCourse, 409: ErrorEnvelope})
@open_to(PARTY, action=Action.LTI_SEND)
def release(path: NumberPath, body: LtiReleaseBody) -> Response:
    """Start or stop sending a link's grades. Once started, each change is sent."""
    return answer(linked_courses.release(platform(), current_user(), path.course, path.number, body.released))


@api.post("/courses/<course>/lti/links/<int:number>/send", responses={200: LtiCourse, 409: ErrorEnvelope})
@open_to(PARTY, action=Action.LTI_SEND)
def send_again(path: NumberPath, body: LtiSendBody) -> Response:
    """Send failed or waiting grades again, for one student or for all."""
    return answer(
        linked_courses.send_again(platform(), current_user(), path.course, path.number, body.student)
    )
