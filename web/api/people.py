"""Accounts, invitations and password links for staff; roles for admins."""

from __future__ import annotations

from flask import Response, request
from pydantic import BaseModel, Field

from grader import limits
from grader.schemas.account import (
    InvitationBody,
    InvitationList,
    LinkView,
    NewInvitation,
    PersonList,
    Role,
    RoleBody,
)
from grader.schemas.submission import ErrorEnvelope, Me
from grader.service.accounts import invitations, people, resets
from grader.web.access import ADMINS, STAFF, open_to
from grader.web.answers import answer
from grader.web.api.resource import resource
from grader.web.auth.identity import current_user
from grader.web.current import platform

api = resource("people", "Accounts and invitations (staff only)")


class PersonPath(BaseModel):
    name: str = Field(max_length=limits.NAME_CHARS)


class InvitationPath(BaseModel):
    number: int = Field(ge=1, le=2**31 - 1)


@api.get("/people", responses={200: PersonList})
@open_to(STAFF)
def list_people() -> Response:
    """All accounts."""
    return answer(people.list_people(platform(), current_user()))


@api.put("/people/<name>/role", responses={200: Me, 409: ErrorEnvelope})
@open_to(ADMINS)
def set_role(path: PersonPath, body: RoleBody) -> Response:
    """Make somebody a student, staff or an admin (admins only)."""
    user = people.set_role(platform(), path.name, Role(body.role), current_user())
    return answer(Me(name=user.name, role=user.role))


@api.post("/people/<name>/password-reset", responses={201: LinkView})
@open_to(STAFF)
def make_reset(path: PersonPath) -> Response:
    """Create a link that sets a new password, to hand over. For accounts of staff: admins only."""
    link = resets.make_link_as(platform(), current_user(), path.name)
    return answer(LinkView(link=link.at(_base()), expires_at=link.expires_at), 201)


@api.get("/invitations", responses={200: InvitationList})
@open_to(STAFF)
def list_invitations() -> Response:
    """Invitations that can still be used."""
    return answer(invitations.list_all(platform(), current_user()))


@api.post("/invitations", responses={201: NewInvitation, 409: ErrorEnvelope})
@open_to(STAFF)
def create_invitation(body: InvitationBody) -> Response:
    """Create an invitation; its link is shown only now. Invitations for staff: admins only."""
    return answer(invitations.make(platform(), body, current_user(), _base()), 201)


@api.delete("/invitations/<int:number>", responses={204: None})
@open_to(STAFF)
def delete_invitation(path: InvitationPath) -> Response:
    """Revoke an invitation; accounts created with it stay."""
    invitations.revoke(platform(), path.number, current_user())
    return Response(status=204)


def _base() -> str:
    return platform().settings.url or request.host_url.rstrip("/")
