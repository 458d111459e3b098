from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from grader.schemas.strict import Strict


class Mark(StrEnum):
    OPEN = "open"
    """Nothing was submitted."""
    ATTEMPTED = "attempted"
    """Submitted, but nothing accepted."""
    SOLVED = "solved"
    """A submission was accepted."""


class Best(Strict):
    """The largest speedup of an accepted submission."""

    challenge: str
    device: str
    speedup: float
    representative: bool = Field(description="false: from a board without a GPU, if there is none from a GPU")


class ChallengeProgress(Strict):
    slug: str
    title: str
    difficulty: str
    mark: Mark
    prerequisites: list[str]
    missing: list[str] = Field(description="unsolved prerequisites: only advice, nothing is locked")
    best: Best | None = None


class TrackProgress(Strict):
    title: str
    description: str = ""
    solved: int
    attempted: int = Field(description="challenges with submissions, solved or not")
    total: int
    best: Best | None = None
    next: str | None = Field(default=None, description="the suggested next challenge")
    challenges: list[ChallengeProgress]


class Progress(Strict):
    user: str
    solved: int
    attempted: int
    total: int
    next: str | None = Field(default=None, description="the suggested next challenge")
    tracks: list[TrackProgress]
