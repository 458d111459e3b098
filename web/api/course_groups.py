from __future__ import annotations

from flask import Response

from grader.schemas.course import GroupBody, OwnGroup
from grader.schemas.submission import ErrorEnvelope
from grader.service.courses import course_groups
from grader.service.courses.permissions import Action
from grader.web import throttle
from grader.web.access import PARTY, open_to
from grader.web.answers import answer
from grader.web.api.courses import CoursePath
from grader.web.api.resource import resource
from grader.web.auth.identity import current_user
from grader.web.current import platform

api = resource("course_groups", "Groups that hand in together")


@api.get("/courses/<course>/group", responses={200: OwnGroup})
@open_to(PARTY, action=Action.GROUP_CHOOSE)
def get_group(path: CoursePath) -> Response:
    """Your group in the course, its code, and whether you may change it now."""
    return answer(course_groups.get_own(platform(), current_user(), path.course))


@api.post("/courses/<course>/group", responses={200: OwnGroup, 409: ErrorEnvelope})
@open_to(PARTY, action=Action.GROUP_CHOOSE)
def change_group(path: CoursePath, body: GroupBody) -> Response:
    """Make a group, join one with its code, or leave yours."""
    with throttle.team_code(body.join or ""):
        return answer(course_groups.change_own(platform(), current_user(), path.course, body))
