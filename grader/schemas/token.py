"""API tokens as their owner sees them: never the token itself, but once. And the codes by which a command line asks
for one."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field, StrictInt

from grader.schemas.strict import Strict


class Scope(StrEnum):
    """What a token may do of what its owner may."""

    READ = "read"
    """Read what the owner may read."""
    SUBMIT = "submit"
    """Submit and cancel, and change all that no other scope is for."""
    ACCOUNT = "account"
    """Export and delete the account, end its sessions and tokens; with ``staff`` also others' accounts as far as staff
    may, and links for new passwords."""
    STAFF = "staff"
    """All that is for staff; worth something only where the owner is staff."""


ALL_SCOPES = tuple(Scope)
# What `grader login` asks for: no power over others that a lost laptop would give away.
USUAL_SCOPES = (Scope.READ, Scope.SUBMIT)

_DAYS = "how long it lives; the longest that the platform allows when absent"


class TokenBody(Strict):
    """Body of POST /api/v1/tokens: a name and password buy an API token."""

    name: str
    password: str
    label: str = "cli"
    days: StrictInt | None = Field(default=None, ge=1, le=3650, description=_DAYS)
    scopes: list[Scope] | None = Field(
        default=None, min_length=1, max_length=8, description="all that the account may have when absent"
    )


class TokenView(Strict):
    token: str
    user: str
    role: str
    expires_at: datetime
    scopes: list[Scope] = Field(default_factory=list)


class KeptToken(Strict):
    """A token or session that works. ``current`` is the one that the call is made with."""

    id: int
    label: str
    kind: str = Field(default="api", description="api, or session for a browser's")
    scopes: list[Scope] = Field(default_factory=list)
    address: str = Field(default="", description="where it was made from")
    created_at: datetime
    last_used_at: datetime | None = Field(
        default=None, description="to within ten minutes; none where it never was"
    )
    expires_at: datetime
    current: bool


class TokenList(Strict):
    tokens: list[KeptToken]


class DeviceCodeBody(Strict):
    """Body of POST /api/v1/device-codes: a program without a password asks to be signed in."""

    label: str = Field(default="cli", max_length=64, description="shown to who is asked")
    scopes: list[Scope] = Field(default=list(USUAL_SCOPES), min_length=1, max_length=8)
    days: StrictInt | None = Field(default=None, ge=1, le=3650, description=_DAYS)


class DeviceCode(Strict):
    """What the program keeps (``device_code``), and what it shows to a person. Times in seconds."""

    device_code: str
    user_code: str
    verification_uri: str
    verification_uri_complete: str
    expires_in: int
    interval: int


class DevicePoll(Strict):
    """Body of POST /api/v1/device-codes/token."""

    device_code: str = Field(max_length=128)
