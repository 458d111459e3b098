"""Versions of a challenge, what differs between two, and what judging again under a new one would change."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field, StrictBool

from grader.languages import Language
from grader.schemas.report import Verdict
from grader.schemas.strict import Strict
from grader.schemas.submission import State


class ChangeView(Strict):
    """One difference in what judging depends on; ``name`` is "" where the part is one whole."""

    part: str
    name: str
    kind: Literal["added", "removed", "changed"]
    before: Any = None
    after: Any = None


class VersionDiff(Strict):
    """``needs_version``: judged differently under the same number, which no platform that served it will do."""

    challenge: str
    against: str = Field(description="a git reference, or a version of the platform")
    version_before: int
    version_after: int
    changes: list[ChangeView]
    needs_version: bool


class VersionView(Strict):
    version: int
    fingerprint: str
    served_at: datetime
    published_at: datetime | None = None
    shown: bool = Field(description="its board is the one that students see")
    judged: int = Field(ge=0, description="submissions with a verdict under it")


class VersionList(Strict):
    challenge: str
    folder: int = Field(description="the version that the challenge's folder has now: what is judged")
    versions: list[VersionView]


class VersionContent(Strict):
    challenge: str
    version: int
    content: dict[str, Any] = Field(description="what judging depended on, by part")


class RejudgeBody(Strict):
    """``ranked``: only what stands on a board now, and not every submission."""

    ranked: StrictBool = False


class PublishBody(Strict):
    force: StrictBool = Field(default=False, description="also while submissions wait to be judged again")


class Rejudge(Strict):
    """``waiting``: how many are still to be judged under ``version``, those of earlier orders included."""

    challenge: str
    version: int
    queued: int = Field(ge=0)
    waiting: int = Field(ge=0)
    left_out: int = Field(
        default=0,
        ge=0,
        description="those whose sources were deleted with an account: they keep their verdicts",
    )
    regrade: int | None = Field(default=None, description="its number; none where there was nothing to order")


class Judgement(Strict):
    """What came of one submission under one version. ``id`` is the row that holds its report."""

    id: str
    state: State
    verdict: Verdict | None = None
    time_us: float | None = None
    speedup: float | None = None


class ComparedSubmission(Strict):
    """``after`` is none where it was not ordered. ``time_ratio``: new time / old time, where both have one."""

    submission: str
    user: str
    language: Language
    device: str
    before: Judgement
    after: Judgement | None = None
    verdict_changed: bool = False
    time_ratio: float | None = None


class ComparedRank(Strict):
    """A user's place on the board of one device; none where the board does not have them."""

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
    failed: int = Field(ge=0, description="ours: order them again")
    not_ordered: int = Field(ge=0)
    left_out: int = Field(default=0, ge=0, description="not ordered, since their sources were deleted")
    median_time_ratio: float | None = None
    submissions: list[ComparedSubmission]
    ranks: list[ComparedRank]
