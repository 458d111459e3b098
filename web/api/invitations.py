from __future__ import annotations

from flask import Response, request
from pydantic import BaseModel, Field

from grader.schemas.account import (
    InvitationBody,
    InvitationList,
    NewInvitation,
)
from grader.schemas.submission import ErrorEnvelope
from grader.service.accounts import invitations
from grader.web.access import STAFF, open_to
from grader.web.answers import answer
from grader.web.api.resource import resource
from grader.web.auth.identity import current_user
from grader.web.current import platform

api = resource("invitations", "Invitations (staff only)")


class InvitationPath(BaseModel):
    number: int = Field(ge=1, le=2**31 - 1)


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
