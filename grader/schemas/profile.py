from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum

from pydantic import Field

from grader.languages import Language
from grader.schemas.progress import TrackProgress
from grader.schemas.strict import Strict


class BadgeKind(StrEnum):
    FIRST = "first"
    """The first student to solve a challenge."""
    TRACK = "track"
    """Every challenge of a track solved."""
    SOLVED = "solved"
    """A round number of challenges solved."""
    COMPILE = "compile"
    """Faster than torch.compile on a GPU."""
    LEAD = "lead"
    """First rank on a board with other people."""
    BOTH = "both"
    """One challenge solved in CUDA C++ and in Triton."""


class Badge(Strict):
    kind: BadgeKind
    title: str
    about: str = Field(description="a challenge's or track's title, or a number")
    challenge: str | None = None


class Day(Strict):
    """A day (UTC) with submissions."""

    day: date
    submitted: int
    accepted: int


class Activity(Strict):
    """The last 53 weeks."""

    begin: date
    end: date
    days: list[Day]
    submitted: int
    accepted: int
    longest_streak: int = Field(description="days")


class LanguageShare(Strict):
    """Submissions in one language."""

    language: Language
    submitted: int
    solved: int = Field(description="challenges")


class BestRank(Strict):
    challenge: str
    title: str
    device: str
    representative: bool
    language: Language
    rank: int
    time_us: float
    speedup: float | None


class Profile(Strict):
    name: str
    role: str
    since: datetime
    hidden: bool = Field(description="its owner wants no public profile; only they and staff see it")
    solved: int
    total: int
    activity: Activity | None = Field(description="null if the reader may not see it")
    languages: list[LanguageShare]
    tracks: list[TrackProgress]
    ranks: list[BestRank]
    badges: list[Badge]
