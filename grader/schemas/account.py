from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Literal

from pydantic import Field, StrictInt

from grader import limits
from grader.schemas.strict import Strict


class Role(StrEnum):
    """``staff`` teach and see every submission; ``admin`` are staff who also appoint staff."""

    STUDENT = "student"
    STAFF = "staff"
    ADMIN = "admin"


class EmailBy(StrEnum):
    """Source of an account's address: an admin, a course's roster, its owner (who verified it), or a site
    that signed the owner in. Only the first two let another site link itself to the account.
    """

    ADMIN = "admin"
    ROSTER = "roster"
    OWNER = "owner"
    SIGN_ON = "sign_on"


STAFF_ROLES = (Role.STAFF, Role.ADMIN)


RoleName = Literal["student", "staff", "admin"]


class IdentityView(Strict):
    id: int
    label: str
    authority: str
    subject: str = Field(description="the other site's id of the person")
    came_by: str
    created_at: datetime
    used_at: datetime | None = None


class PersonView(Strict):
    name: str
    role: RoleName
    email: str | None = Field(default=None, description="verified, or set by the platform's operator")
    created_at: datetime


class PersonList(Strict):
    people: list[PersonView]


class InvitationBody(Strict):
    """Body of POST /api/v1/invitations."""

    label: str = Field(default="", max_length=limits.NAME_CHARS, description="for whom: a course, a group")
    role: RoleName = Field(default="student", description="roles other than student: admins only")
    uses: StrictInt = Field(
        default=1, ge=1, le=limits.INVITATION_USES, description="accounts that it can make"
    )
    days: StrictInt = Field(default=14, ge=1, le=limits.INVITATION_DAYS)


class InvitationView(Strict):
    id: int
    label: str
    role: RoleName
    uses: int
    used: int
    made_by: str | None = Field(default=None, description="null: the platform's operator")
    created_at: datetime
    expires_at: datetime


class NewInvitation(InvitationView):
    link: str = Field(description="shown only this once")


class InvitationList(Strict):
    invitations: list[InvitationView]


class SignUpBody(Strict):
    """An account that somebody makes for themselves."""

    name: str
    password: str
    key: str = Field(default="", max_length=128, description="of an invitation or of a mailed link")
