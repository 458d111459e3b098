"""Accounts and invitations, as API, pages and command line see them."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Literal

from pydantic import Field, StrictInt

from grader import limits
from grader.schemas.strict import Strict


class Role(StrEnum):
    """``staff`` teach: they see every submission. ``admin`` are staff who also say who is staff."""

    STUDENT = "student"
    STAFF = "staff"
    ADMIN = "admin"


class EmailBy(StrEnum):
    """Where an account's address comes from: an admin, a course's roster, its owner (who proved it), or a site that
    signed its owner in. Only the first two let another site link itself to the account by that address."""

    ADMIN = "admin"
    ROSTER = "roster"
    OWNER = "owner"
    SIGN_ON = "sign_on"


STAFF_ROLES = (Role.STAFF, Role.ADMIN)


RoleName = Literal["student", "staff", "admin"]


class IdentityView(Strict):
    """Another site's account that opens one here: ``authority`` calls its owner ``subject``."""

    id: int
    label: str
    authority: str
    subject: str
    came_by: str
    created_at: datetime
    used_at: datetime | None = None


class PersonView(Strict):
    """Somebody's account. ``email`` is one that was proven, or set by who runs the platform."""

    name: str
    role: RoleName
    email: str | None = None
    created_at: datetime


class PersonList(Strict):
    people: list[PersonView]


class RoleBody(Strict):
    role: RoleName


class InvitationBody(Strict):
    """Body of POST /api/v1/invitations."""

    label: str = Field(default="", max_length=limits.NAME_CHARS, description="for whom: a course, a group")
    role: RoleName = Field(default="student", description="other than student: admins only")
    uses: StrictInt = Field(default=1, ge=1, le=limits.INVITATION_USES, description="accounts it is good for")
    days: StrictInt = Field(default=14, ge=1, le=limits.INVITATION_DAYS)


class InvitationView(Strict):
    id: int
    label: str
    role: RoleName
    uses: int
    used: int
    made_by: str | None = Field(default=None, description="none: who runs the platform")
    created_at: datetime
    expires_at: datetime


class NewInvitation(InvitationView):
    """``link`` is shown this once."""

    link: str


class InvitationList(Strict):
    invitations: list[InvitationView]


class LinkView(Strict):
    """A link that works once; it is shown this once, too."""

    link: str
    expires_at: datetime


class SignUpBody(Strict):
    """Body of POST /api/v1/accounts. ``key`` is that of an invitation or of a mailed link."""

    name: str
    password: str
    key: str = Field(default="", max_length=128)


class AddressBody(Strict):
    """Body of POST /api/v1/accounts/address: where to mail the link that makes an account."""

    email: str = Field(max_length=limits.EMAIL_CHARS)


class ForgottenBody(Strict):
    """Body of POST /api/v1/password-resets: name or e-mail address of the account."""

    name: str = Field(max_length=limits.EMAIL_CHARS)


class ResetBody(Strict):
    """Body of POST /api/v1/password-resets/use."""

    key: str = Field(max_length=128)
    password: str


class MessageSent(Strict):
    """The same for every caller and every name."""

    message: str
