"""Tokens of workers on other hosts, as staff see them."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field, StrictInt

from grader import limits
from grader.schemas.strict import Strict


class WorkerTokenBody(Strict):
    """Body of POST /api/v1/worker-tokens."""

    name: str = Field(
        min_length=1, max_length=limits.NAME_CHARS, pattern=r"^[\w.-]+$", description="such as campus-a"
    )
    devices: list[str] = Field(
        default_factory=list,
        max_length=16,
        description="the boards that it may serve, and compile for the compile queue; empty: all",
    )
    days: StrictInt | None = Field(
        default=None,
        ge=1,
        le=3650,
        description="its life in days; by default the longest that the platform allows",
    )


class KeptWorkerToken(Strict):
    id: int
    name: str
    devices: list[str] = Field(description="empty: all")
    workers: int = Field(description="that registered with it and have not ended")
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None = Field(description="to within ten minutes; null if never")


class NewWorkerToken(KeptWorkerToken):
    token: str = Field(description="shown once")


class WorkerTokenList(Strict):
    tokens: list[KeptWorkerToken]
