"""Whether students see a challenge, from when on, and who sees whom on its board."""

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
    """For staff alone. A folder that is new on a platform begins as one."""
    SCHEDULED = "scheduled"
    """A draft until its time, published from then on."""
    PUBLISHED = "published"
    """Everybody sees it and submits."""
    HIDDEN = "hidden"
    """It was published and is put away: students keep what they submitted and find the challenge nowhere."""


class BoardAudience(StrEnum):
    PUBLIC = "public"
    """Whoever may read boards on this platform."""
    COURSE = "course"
    """Members of a course that assigns the challenge."""
    PSEUDONYMOUS = "pseudonymous"
    """Everybody but oneself by a made-up name, the same one for ever on this board; staff see real ones."""
    HIDDEN = "hidden"
    """Staff alone. Others see their own entry, without a rank."""


class PublicationBody(Strict):
    """What becomes of a challenge. ``publish_at`` goes with ``scheduled`` alone."""

    state: Literal["draft", "scheduled", "published", "hidden"]
    publish_at: ZonedMoment | None = Field(
        default=None, description="with a zone; needed for scheduled, and for nothing else"
    )


class BoardBody(Strict):
    """Who sees whom on a challenge's board. Both are set: what is left out is public, and not frozen."""

    board: BoardAudience = BoardAudience.PUBLIC
    frozen_at: ZonedMoment | None = Field(
        default=None, description="students see the board of what was received until then; none: as it is"
    )


class BoardSettings(Strict):
    challenge: str
    board: BoardAudience
    frozen_at: datetime | None


class PublicationView(Strict):
    """``state`` is what holds now: a scheduled challenge whose time has come is published."""

    challenge: str
    title: str
    state: PublicationState
    publish_at: datetime | None = Field(description="when a scheduled challenge was or will be published")
    board: BoardAudience
    frozen_at: datetime | None = Field(description="since when the board stands still for students")
    broken: bool = Field(description="its folder does not load, so that nobody can use it")
    changed_at: datetime | None
    changed_by: str | None = Field(description="none where it was there from the first start on")


class PublicationList(Strict):
    challenges: list[PublicationView]
