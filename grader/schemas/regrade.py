"""Regrades: judging what was handed in once more, compared before anyone but staff sees it."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field, StrictBool, model_validator

from grader import limits
from grader.languages import Language
from grader.schemas.strict import Strict
from grader.schemas.version import Judgement


class RegradeScope(StrEnum):
    """What is judged again: one submission, a student's, an assignment's, or a challenge's under its version."""

    SUBMISSION = "submission"
    STUDENT = "student"
    ASSIGNMENT = "assignment"
    CHALLENGE = "challenge"


class RegradeState(StrEnum):
    """``open``: it is being judged, or staff have yet to decide. Only what is published counts."""

    OPEN = "open"
    PUBLISHED = "published"
    DISCARDED = "discarded"


class Change(StrEnum):
    """What a regrade makes of a submission: more points or, of as many, a time that the board can tell is better; less;
    or neither. ``failed`` is ours: order it again."""

    UP = "up"
    DOWN = "down"
    UNCHANGED = "unchanged"
    WAITING = "waiting"
    FAILED = "failed"


class RegradeBody(Strict):
    """Body of POST /api/v1/regrades. Name a ``submission``; or a ``course`` with a ``student``, an ``assignment``, or
    both; or a ``challenge``. Students read the ``reason`` once the regrade is published."""

    submission: str | None = Field(default=None, max_length=32)
    course: str | None = Field(default=None, max_length=limits.SLUG_CHARS)
    assignment: str | None = Field(default=None, max_length=limits.SLUG_CHARS)
    student: str | None = Field(default=None, max_length=limits.NAME_CHARS)
    challenge: str | None = Field(default=None, max_length=limits.SLUG_CHARS)
    reason: str = Field(min_length=1, max_length=limits.REASON_CHARS)
    confirm: str = Field(
        default="",
        max_length=limits.NAME_CHARS,
        description=f"above {limits.REGRADE_UNCONFIRMED} submissions: the name of the assignment, student or challenge",
    )

    @model_validator(mode="after")
    def _names_one_thing(self) -> RegradeBody:
        named = sum(it is not None for it in (self.submission, self.course, self.challenge))
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
    """Body of POST /api/v1/regrades/<number>/publish. ``partial``: also where some failed by our fault, which keep what
    they have."""

    partial: StrictBool = False


class RegradedSubmission(Strict):
    """``points`` are those of the challenge's ``[grading]``, without weights and lateness; none where its folder is
    broken. ``time_ratio``: new time / old time."""

    submission: str
    user: str
    challenge: str
    language: Language
    device: str
    before: Judgement
    after: Judgement
    points_before: float | None = None
    points_after: float | None = None
    change: Change
    verdict_changed: bool = False
    time_ratio: float | None = None


class RegradedGrade(Strict):
    """What a student has for a part of an assignment, and what they will have."""

    course: str
    assignment: str
    challenge: str
    student: str
    before: float
    after: float


class RegradedRank(Strict):
    """A team's rank without and with what the regrade judged; none: nothing of it counts."""

    team: str
    before: int | None = None
    after: int | None = None


class RegradedBoard(Strict):
    """Ranks of a competition on one device, the best after the regrade first. ``changed``: how many differ."""

    competition: str
    title: str
    device: str
    changed: int
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
    """``what`` says in words what is judged again. ``grades`` and ``boards`` are of the time when it is asked for; of a
    published one there are none left to change."""

    number: int
    scope: RegradeScope
    what: str
    course: str | None = None
    reason: str
    state: RegradeState
    ordered_by: str | None = None
    ordered_at: datetime
    decided_by: str | None = None
    decided_at: datetime | None = None
    versions: dict[str, int] = Field(description="challenge -> the version that it is judged under")
    summary: RegradeSummary
    left_out: int = Field(
        default=0,
        description="submissions whose sources were deleted with an account: they keep their verdicts",
    )
    expected_s: float | None = Field(
        default=None, description="how long the judging of what waits takes, without students' submissions"
    )
    submissions: list[RegradedSubmission] = Field(default_factory=list, description="what changed first")
    grades: list[RegradedGrade] = Field(default_factory=list, description="only those that change")
    boards: list[RegradedBoard] = Field(
        default_factory=list,
        description="of competitions that have part of it, while it is open and before their final begins",
    )


class RegradeList(Strict):
    """Newest first, without their submissions."""

    regrades: list[RegradeView]
