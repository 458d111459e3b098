"""Versions of a challenge, their differences, and the effect of judging again under a new one."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field, StrictBool

from grader.languages import Language
from grader.schemas.report import Verdict
from grader.schemas.strict import Strict
from grader.schemas.submission import State


class ChangeView(Strict):
    """A difference that affects judging."""

    part: str
    name: str = Field(description="empty if it is the whole part")
    kind: Literal["added", "removed", "changed"]
    before: Any = None
    after: Any = None


class VersionDiff(Strict):
    challenge: str
    against: str = Field(description="a git reference, or a version of the platform")
    version_before: int
    version_after: int
    changes: list[ChangeView]
    needs_version: bool = Field(
        description="judged differently under the same number, which a platform that served it refuses"
    )


class VersionView(Strict):
    version: int
    fingerprint: str
    served_at: datetime
    published_at: datetime | None = None
    shown: bool = Field(description="students see its board")
    judged: int = Field(ge=0, description="submissions with a verdict under it")


class VersionList(Strict):
    challenge: str
    folder: int = Field(description="the version in the challenge's folder, which judges submissions")
    versions: list[VersionView]


class VersionContent(Strict):
    challenge: str
    version: int
    content: dict[str, Any] = Field(description="everything that affects judging, by part")


class RejudgeBody(Strict):
    ranked: StrictBool = Field(default=False, description="only submissions that are on a board now")


class PublishBody(Strict):
    force: StrictBool = Field(default=False, description="even while submissions wait to be judged again")


class Rejudge(Strict):
    challenge: str
    version: int
    queued: int = Field(ge=0)
    waiting: int = Field(ge=0, description="still to be judged under `version`, including earlier orders")
    left_out: int = Field(
        default=0,
        ge=0,
        description="submissions whose sources were deleted with an account; they keep their verdicts",
    )
    regrade: int | None = Field(default=None, description="its number; null if there was nothing to order")


class Judgement(Strict):
    """A submission's result under one version."""

    id: str = Field(description="names its report")
    state: State
    verdict: Verdict | None = None
    time_us: float | None = None
    speedup: float | None = None


class ComparedSubmission(Strict):
    """A submission before and after."""

    submission: str
    user: str
    language: Language
    device: str
    before: Judgement
    after: Judgement | None = Field(default=None, description="null if it was not ordered")
    verdict_changed: bool = False
    time_ratio: float | None = Field(default=None, description="new time / old time, if both are known")


class ComparedRank(Strict):
    """Null if the user is not on the board."""

    device: str
    user: str
    before: int | None
    after: int | None


class Comparison(Strict):
    challenge: str
    before: int = Field(description="version")
    after: int = Field(description="version")
    shown: int = Field(description="the version whose board students see")
    judged: int = Field(ge=0, description="submissions with a verdict under both")
    waiting: int = Field(ge=0)
    failed: int = Field(ge=0, description="failures of the platform: order them again")
    not_ordered: int = Field(ge=0)
    left_out: int = Field(default=0, ge=0, description="not ordered because their sources were deleted")
    median_time_ratio: float | None = None
    submissions: list[ComparedSubmission]
    ranks: list[ComparedRank]
