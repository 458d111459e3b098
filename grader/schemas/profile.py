"""What others may see of a person: activity, languages, ranks, badges."""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum

from grader.languages import Language
from grader.schemas.progress import TrackProgress
from grader.schemas.strict import Strict


class BadgeKind(StrEnum):
    FIRST = "first"
    """First student with an accepted submission of a challenge."""
    TRACK = "track"
    """Every challenge of a track is solved."""
    SOLVED = "solved"
    """A round number of challenges is solved."""
    COMPILE = "compile"
    """Faster than torch.compile on a GPU."""
    LEAD = "lead"
    """First rank on a board with others on it."""
    BOTH = "both"
    """One challenge solved in CUDA C++ and in Triton."""


class Badge(Strict):
    """``about`` is what it was given for: a challenge's or a track's title, or a number."""

    kind: BadgeKind
    title: str
    about: str
    challenge: str | None = None


class Day(Strict):
    """A day, in UTC, on which something was submitted."""

    day: date
    submitted: int
    accepted: int


class Activity(Strict):
    """The last 53 weeks. ``longest_streak`` in days."""

    begin: date
    end: date
    days: list[Day]
    submitted: int
    accepted: int
    longest_streak: int


class LanguageShare(Strict):
    """``solved`` challenges in one language, and what was submitted."""

    language: Language
    submitted: int
    solved: int


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
    """``hidden``: its person asked for no public profile; it is shown to that person and to staff. ``activity``: none
    where it is not for the reader."""

    name: str
    role: str
    since: datetime
    hidden: bool
    solved: int
    total: int
    activity: Activity | None
    languages: list[LanguageShare]
    tracks: list[TrackProgress]
    ranks: list[BestRank]
    badges: list[Badge]
