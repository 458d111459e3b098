"""API tokens as their owner sees them: never the token itself, but once."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from grader.schemas.strict import Strict


class TokenBody(Strict):
    """Body of POST /api/v1/tokens: a name and password buy an API token."""

    name: str
    password: str
    label: str = "cli"
    days: int | None = Field(
        default=None,
        ge=1,
        le=3650,
        description="how long it lives; the longest that the platform allows when absent",
    )


class TokenView(Strict):
    token: str
    user: str
    role: str
    expires_at: datetime


class KeptToken(Strict):
    """A token that works. ``current`` is the one that the call is made with."""

    id: int
    label: str
    created_at: datetime
    last_used_at: datetime | None = Field(
        default=None, description="to within ten minutes; none where it never was"
    )
    expires_at: datetime
    current: bool


class TokenList(Strict):
    tokens: list[KeptToken]
