"""Regrades: submissions are judged again, and only staff see the comparison until it is published."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field, StrictBool, model_validator

from grader import limits
from grader.languages import Language
from grader.schemas.strict import Strict
from grader.schemas.version import Judgement


class RegradeScope(StrEnum):
    """A submission, a student's, an assignment's, or a challenge's under its version."""

    SUBMISSION = "submission"
    STUDENT = "student"
    ASSIGNMENT = "assignment"
    CHALLENGE = "challenge"


class RegradeState(StrEnum):
    """``open``: being judged, or undecided. Only published regrades count."""

    OPEN = "open"
    PUBLISHED = "published"
    DISCARDED = "discarded"


class Change(StrEnum):
    """``up``: more points or, with equal points, a time that the board can tell is better. ``failed``: a
    failure of the platform; order it again.
    """

    UP = "up"
    DOWN = "down"
    UNCHANGED = "unchanged"
    WAITING = "waiting"
    FAILED = "failed"


class RegradeBody(Strict):
    """Body of POST /api/v1/regrades. Name a ``submission``; or a ``course`` with a ``student``, an
    ``assignment``, or both; or a ``challenge``.
    """

    submission: str | None = Field(default=None, max_length=32)
    course: str | None = Field(default=None, max_length=limits.SLUG_CHARS)
    assignment: str | None = Field(default=None, max_length=limits.SLUG_CHARS)
    student: str | None = Field(default=None, max_length=limits.NAME_CHARS)
    challenge: str | None = Field(default=None, max_length=limits.SLUG_CHARS)
    reason: str = Field(
        min_length=1,
        max_length=limits.REASON_CHARS,
        description="students read it once the regrade is published",
    )
    confirm: str = Field(
        default="",
        max_length=limits.NAME_CHARS,
        description=f"required above {limits.REGRADE_UNCONFIRMED} submissions: name of the assignment, student or "
        "challenge",
    )

    @model_validator(mode="after")
    def _names_one_thing(self) -> RegradeBody:
        named = sum(name is not None for name in (self.submission, self.course, self.challenge))
        within = self.assignment is not None or self.student is not None
        if named != 1 or within != (self.course is not None):
            raise ValueError("name a submission, or a course with a student or an assignment, or a challenge")
        return self

    @property
    def scope(self) -> RegradeScope:
        if self.submission is not None:
            return RegradeScope.SUBMISSION
        if self.challenge is not None:
            return RegradeScope.CHALLENGE
        return RegradeScope.STUDENT if self.student is not None else RegradeScope.ASSIGNMENT


class RegradeDecision(Strict):
    """Body of POST /api/v1/regrades/<number>/publish."""

    partial: StrictBool = Field(
        default=False, description="publish even if the platform failed on some; these keep their results"
    )


class RegradedSubmission(Strict):
    submission: str
    user: str
    challenge: str
    language: Language
    device: str
    before: Judgement
    after: Judgement
    points_before: float | None = Field(
        default=None,
        description="by the challenge's [grading], without weights and lateness; null if its folder is broken",
    )
    points_after: float | None = None
    change: Change
    verdict_changed: bool = False
    time_ratio: float | None = Field(default=None, description="new time / old time")


class RegradedGrade(Strict):
    """A student's present and future points for a part of an assignment."""

    course: str
    assignment: str
    challenge: str
    student: str
    before: float
    after: float


class RegradedRank(Strict):
    """A team's rank without and with the regrade; null: nothing of the team counts."""

    team: str
    before: int | None = None
    after: int | None = None


class RegradedBoard(Strict):
    """Ranks of a competition on one device, best after the regrade first."""

    competition: str
    title: str
    device: str
    changed: int = Field(description="number of ranks that differ")
    ranks: list[RegradedRank]


class RegradeSummary(Strict):
    unchanged: int = 0
    up: int = 0
    down: int = 0
    waiting: int = 0
    failed: int = 0

    @property
    def total(self) -> int:
        return self.unchanged + self.up + self.down + self.waiting + self.failed


class RegradeView(Strict):
    """``grades`` and ``boards`` show its present effect; both are empty once it is published."""

    number: int
    scope: RegradeScope
    what: str = Field(description="what is judged again, in words")
    course: str | None = None
    reason: str
    state: RegradeState
    ordered_by: str | None = None
    ordered_at: datetime
    decided_by: str | None = None
    decided_at: datetime | None = None
    versions: dict[str, int] = Field(description="challenge -> version that judges it")
    summary: RegradeSummary
    left_out: int = Field(
        default=0,
        description="submissions whose sources were deleted with an account; they keep their verdicts",
    )
    expected_s: float | None = Field(
        default=None, description="seconds to judge the rest if students submit nothing"
    )
    submissions: list[RegradedSubmission] = Field(default_factory=list, description="changed ones first")
    grades: list[RegradedGrade] = Field(default_factory=list, description="only those that change")
    boards: list[RegradedBoard] = Field(
        default_factory=list,
        description="boards of competitions that it affects, while it is open and before their final begins",
    )


class RegradeList(Strict):
    """Newest first, without their submissions."""

    regrades: list[RegradeView]
