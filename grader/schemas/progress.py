"""How far a student has come, by track."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from grader.schemas.strict import Strict


class Mark(StrEnum):
    """What a student has done with a challenge."""

    OPEN = "open"
    """Nothing was submitted."""
    ATTEMPTED = "attempted"
    """Something was submitted, and nothing accepted."""
    SOLVED = "solved"
    """A submission was accepted."""


class Best(Strict):
    """The largest speedup of an accepted submission. Not ``representative``: from a board without a GPU, and only where
    there is none with one."""

    challenge: str
    device: str
    speedup: float
    representative: bool


class ChallengeProgress(Strict):
    slug: str
    title: str
    difficulty: str
    mark: Mark
    prerequisites: list[str]
    missing: list[str] = Field(
        description="prerequisites that are not solved: advice to do them first, nothing is locked"
    )
    best: Best | None = None


class TrackProgress(Strict):
    """``attempted`` counts what was submitted, solved or not. ``next``: what to do next in this track, if anything."""

    title: str
    description: str = ""
    solved: int
    attempted: int
    total: int
    best: Best | None = None
    next: str | None = None
    challenges: list[ChallengeProgress]


class Progress(Strict):
    """``next``: what to do next in the whole course."""

    user: str
    solved: int
    attempted: int
    total: int
    next: str | None = None
    tracks: list[TrackProgress]
