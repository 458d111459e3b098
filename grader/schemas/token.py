"""API tokens as their owner sees them, and the codes by which a command line requests one."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field, StrictInt

from grader.schemas.strict import Strict


class Scope(StrEnum):
    """The part of its owner's rights that a token has."""

    READ = "read"
    """Read what the owner may read."""
    SUBMIT = "submit"
    """Submit and cancel, and all changes that need no other scope."""
    ACCOUNT = "account"
    """Export and delete the account, end its sessions and tokens; with ``staff`` also others' accounts as far
    as staff may, and links for new passwords.
    """
    STAFF = "staff"
    """Everything for staff; useless unless the owner is staff."""


ALL_SCOPES = tuple(Scope)
# For `grader login`: no power over others, which a lost laptop would give away.
USUAL_SCOPES = (Scope.READ, Scope.SUBMIT)

_DAYS = "its life in days; by default the longest that the platform allows"
# The account's limits hold, too, so a larger number changes nothing.
PER_DAY = Annotated[
    StrictInt | None,
    Field(
        ge=1,
        le=1_000_000,
        description="submissions and runs that it may make within 24 hours; by default as many "
        "as the account",
    ),
]
AT_ONCE = Annotated[
    StrictInt | None,
    Field(
        ge=1,
        le=1_000,
        description="submissions and runs of it that may wait or run at once; by default as many "
        "as of the account",
    ),
]


class TokenBody(Strict):
    """Body of POST /api/v1/tokens: gives an API token for name and password."""

    name: str
    password: str
    label: str = "cli"
    days: StrictInt | None = Field(default=None, ge=1, le=3650, description=_DAYS)
    scopes: list[Scope] | None = Field(
        default=None, min_length=1, max_length=8, description="by default all that the account may have"
    )
    per_day: PER_DAY = None
    at_once: AT_ONCE = None


class TokenView(Strict):
    token: str
    user: str
    role: str
    expires_at: datetime
    scopes: list[Scope] = Field(default_factory=list)


class KeptToken(Strict):
    """A valid token or session."""

    id: int
    label: str
    kind: str = Field(default="api", description="api, or session for a browser's")
    scopes: list[Scope] = Field(default_factory=list)
    address: str = Field(default="", description="the address that made it")
    created_at: datetime
    last_used_at: datetime | None = Field(default=None, description="to within ten minutes; null if never")
    expires_at: datetime
    per_day: PER_DAY = None
    at_once: AT_ONCE = None
    current: bool = Field(description="the call was made with it")


class TokenList(Strict):
    tokens: list[KeptToken]


class DeviceCodeBody(Strict):
    """Body of POST /api/v1/device-codes: a program without a password asks for a sign-in."""

    label: str = Field(default="cli", max_length=64, description="shown to the person who approves it")
    scopes: list[Scope] = Field(default=list(USUAL_SCOPES), min_length=1, max_length=8)
    days: StrictInt | None = Field(default=None, ge=1, le=3650, description=_DAYS)
    per_day: PER_DAY = None
    at_once: AT_ONCE = None


class DeviceCode(Strict):
    device_code: str = Field(description="kept by the program")
    user_code: str = Field(description="shown to the user")
    verification_uri: str
    verification_uri_complete: str
    expires_in: int = Field(description="seconds")
    interval: int = Field(description="seconds between polls")


class DevicePoll(Strict):
    """Body of POST /api/v1/device-codes/token."""

    device_code: str = Field(max_length=128)
