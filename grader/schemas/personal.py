from __future__ import annotations

from datetime import datetime

from pydantic import Field

from grader.schemas.strict import Strict


class DeletionBody(Strict):
    """The body of POST /api/v1/me/deletion and POST /api/v1/people/NAME/deletion."""

    confirm: str = Field(max_length=64, description="the account's name, typed again")


class DeletionView(Strict):
    """The effects of deleting an account, and its date if requested."""

    name: str
    due_at: datetime | None = Field(description="when it will be deleted; null if nobody requested it")
    requested_by: str | None
    grace_days: int
    removed: list[str] = Field(description="sentences")
    stays: list[str] = Field(description="sentences")
