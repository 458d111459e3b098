from __future__ import annotations

from flask import Response

from grader.schemas.course import (
    InvitationOrder,
    InvitationSheet,
    MemberChange,
    Roster,
    RosterBody,
    RosterResult,
)
from grader.schemas.submission import ErrorEnvelope
from grader.service.courses import joining, rosters
from grader.service.courses.permissions import Action
from grader.web.access import PARTY, open_to
from grader.web.answers import answer
from grader.web.api.courses import CoursePath, NumberPath, StaffPath, base
from grader.web.api.resource import resource
from grader.web.auth.identity import current_user
from grader.web.current import platform

api = resource("rosters", "Who is in a course (its staff only)")


@api.get("/courses/<course>/roster", responses={200: Roster})
@open_to(PARTY, action=Action.ROSTER_READ)
def get_roster(path: CoursePath) -> Response:
    """Members, invited students, and students removed by staff."""
    return answer(rosters.get_roster(platform(), current_user(), path.course))


@api.post("/courses/<course>/roster", responses={200: RosterResult, 409: ErrorEnvelope})
@open_to(PARTY, action=Action.ROSTER_EDIT)
def import_roster(path: CoursePath, body: RosterBody) -> Response:
    """Change the roster to match a CSV file. `dry_run`, the default, only shows the changes."""
    return answer(rosters.import_roster(platform(), current_user(), path.course, body))


@api.patch("/courses/<course>/roster/<name>", responses={200: Roster, 409: ErrorEnvelope})
@open_to(PARTY, action=Action.ROSTER_EDIT)
def change_member(path: StaffPath, body: MemberChange) -> Response:
    """Change a member's section, group, name or number, remove a student, or let one back in."""
    return answer(rosters.change_member(platform(), current_user(), path.course, path.name, body))


@api.post("/courses/<course>/invitations", responses={200: InvitationSheet, 409: ErrorEnvelope})
@open_to(PARTY, action=Action.ROSTER_EDIT)
def order_invitations(path: CoursePath, body: InvitationOrder) -> Response:
    """Create personal links for students who have not joined, to print or mail. Earlier links stop working."""
    return answer(joining.order_invitations(platform(), current_user(), path.course, body, base()))


@api.delete("/courses/<course>/invitations/<int:number>", responses={200: Roster, 409: ErrorEnvelope})
@open_to(PARTY, action=Action.ROSTER_EDIT)
def withdraw_invitation(path: NumberPath) -> Response:
    """Remove an invited student from the roster."""
    return answer(rosters.withdraw_invitation(platform(), current_user(), path.course, path.number))
