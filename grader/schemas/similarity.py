"""Submissions that resemble each other, as API, pages and command line see them."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from grader import limits
from grader.languages import Language
from grader.schemas.strict import Strict


class Decision(StrEnum):
    """What staff made of a pair. ``open``: nobody looked yet."""

    OPEN = "open"
    DISMISSED = "dismissed"
    CONFIRMED = "confirmed"


class SimilarSide(Strict):
    """One of a pair. ``submission`` and ``user`` are none for the staff's solution, and for what the reader may not
    read; ``earlier``: it is no part of the assignment, but was submitted before by somebody else. ``share``: of its
    weight, how much the other has, 0 to 1."""

    submission: str | None
    user: str | None
    full_name: str = ""
    earlier: bool = False
    share: float


class SimilarPair(Strict):
    """``bits``: the weight of what both have and few others."""

    number: int
    challenge: str
    left: SimilarSide
    right: SimilarSide
    bits: float
    decision: Decision
    reason: str = ""
    decided_by: str | None = None
    decided_at: datetime | None = None


class SimilarityReport(Strict):
    """``made_at`` None: nobody compared yet. ``clusters``: names of students whom pairs connect, of pairs that nobody
    dismissed."""

    course: str
    assignment: str
    made_at: datetime | None = None
    sources: int = 0
    seconds: float = 0.0
    pairs: list[SimilarPair] = Field(default_factory=list)
    clusters: list[list[str]] = Field(default_factory=list)


class MatchedLines(Strict):
    """Lines of the left and of the right source, from 1, that say the same."""

    left: int
    right: int
    bits: float


class SimilarSources(Strict):
    """A pair with both sources, for a view side by side. ``excerpt``: ``right`` was handed in elsewhere, and the reader
    may not read it: its lines are empty."""

    pair: SimilarPair
    language: Language
    left: str
    right: str
    matches: list[MatchedLines]
    excerpt: bool = False


class DecisionBody(Strict):
    """``reason`` is kept in the audit log; where the pair is confirmed, both students read it."""

    decision: Decision
    reason: str = Field(default="", max_length=limits.REASON_CHARS)
