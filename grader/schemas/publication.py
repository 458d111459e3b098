from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from grader.schemas.strict import Moment, Strict


def _zoned(at: datetime) -> datetime:
    if at.tzinfo is None:
        raise ValueError("it needs a time zone, as in 2026-01-31T12:00:00Z")
    return at


ZonedMoment = Annotated[Moment, AfterValidator(_zoned)]


class PublicationState(StrEnum):
    DRAFT = "draft"
    """Only for staff. A new folder begins as a draft."""
    SCHEDULED = "scheduled"
    """A draft until its time, then published."""
    PUBLISHED = "published"
    """Everybody sees it and may submit."""
    HIDDEN = "hidden"
    """Withdrawn after publication: students keep their submissions, but cannot find the challenge."""


class BoardAudience(StrEnum):
    PUBLIC = "public"
    """Everyone who may read boards on this platform."""
    COURSE = "course"
    """Members of a course that assigns the challenge."""
    PSEUDONYMOUS = "pseudonymous"
    """Everyone, but other people have made-up names, which stay the same on this board; staff see real ones.
    """
    HIDDEN = "hidden"
    """Only staff. Others see their own entry, without a rank."""


class PublicationBody(Strict):
    """The new state of a challenge."""

    state: Literal["draft", "scheduled", "published", "hidden"]
    publish_at: ZonedMoment | None = Field(
        default=None, description="with a zone; required for scheduled, not allowed otherwise"
    )


class BoardBody(Strict):
    """Both fields are set: an omitted one means public, or not frozen."""

    board: BoardAudience = BoardAudience.PUBLIC
    frozen_at: ZonedMoment | None = Field(
        default=None, description="students see the board of what was received until then; null: not frozen"
    )


class BoardSettings(Strict):
    challenge: str
    board: BoardAudience
    frozen_at: datetime | None


class PublicationView(Strict):
    challenge: str
    title: str
    state: PublicationState = Field(
        description="the present state: a scheduled challenge is published after its time"
    )
    publish_at: datetime | None = Field(description="when a scheduled challenge was or will be published")
    board: BoardAudience
    frozen_at: datetime | None = Field(description="since when students see a frozen board")
    broken: bool = Field(description="its folder does not load, so nobody can use it")
    changed_at: datetime | None
    changed_by: str | None = Field(description="null if it was there from the first start")
    course: str | None = Field(default=None, description="the course that it belongs to; null: the platform")
    may_change: bool = Field(default=False, description="the caller may publish and hide it")


class PublicationList(Strict):
    challenges: list[PublicationView]
