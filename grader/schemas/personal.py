"""Deletion of an account: what is said before, and when it happens."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from grader.schemas.strict import Strict


class DeletionBody(Strict):
    """The body of POST /api/v1/me/deletion and POST /api/v1/people/NAME/deletion."""

    confirm: str = Field(max_length=64, description="the account's name, typed once more")


class DeletionView(Strict):
    """What deleting an account does, and when it will be done, where it was asked for. ``removed`` and ``stays`` are
    sentences."""

    name: str
    due_at: datetime | None = Field(description="when it is deleted; none where nobody asked for it")
    requested_by: str | None
    grace_days: int
    removed: list[str]
    stays: list[str]
