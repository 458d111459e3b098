"""Submissions that resemble each other."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from grader import limits
from grader.languages import Language
from grader.schemas.strict import Strict


class Decision(StrEnum):
    OPEN = "open"
    DISMISSED = "dismissed"
    CONFIRMED = "confirmed"


class SimilarSide(Strict):
    submission: str | None = Field(
        description="null for the staff's solution, and if the reader may not read it"
    )
    user: str | None = Field(description="null in the same cases")
    full_name: str = ""
    earlier: bool = Field(
        default=False, description="not part of the assignment, but submitted earlier by somebody else"
    )
    share: float = Field(description="0 to 1: the part of its weight that the other has, too")


class SimilarPair(Strict):
    number: int
    challenge: str
    left: SimilarSide
    right: SimilarSide
    bits: float = Field(description="weight of the parts that both have and few others")
    decision: Decision
    reason: str = ""
    decided_by: str | None = None
    decided_at: datetime | None = None


class SimilarityReport(Strict):
    """A comparison of an assignment's submissions."""

    course: str
    assignment: str
    made_at: datetime | None = Field(default=None, description="null: nobody compared yet")
    sources: int = 0
    seconds: float = 0.0
    pairs: list[SimilarPair] = Field(default_factory=list)
    clusters: list[list[str]] = Field(
        default_factory=list, description="names of students connected by pairs that nobody dismissed"
    )


class MatchedLines(Strict):
    """Equal lines of both sources, from 1."""

    left: int
    right: int
    bits: float


class SimilarSources(Strict):
    """A pair with both sources."""

    pair: SimilarPair
    language: Language
    left: str
    right: str
    matches: list[MatchedLines]
    excerpt: bool = Field(
        default=False,
        description="`right` is from elsewhere and the reader may not see it: its lines are empty",
    )


class DecisionBody(Strict):
    """Decides about a pair."""

    decision: Decision
    reason: str = Field(
        default="",
        max_length=limits.REASON_CHARS,
        description="kept in the audit log; both students read it if the pair is confirmed",
    )
