from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from grader import limits
from grader.schemas.budget import GpuTime
from grader.schemas.strict import Strict
from grader.schemas.submission import JudgingReason


class Pause(Strict):
    reason: str = Field(description="by staff, for everyone to read")
    since: datetime


class QueueView(Strict):
    """A device, or ``compile``."""

    name: str
    paused: Pause | None = Field(default=None, description="of this queue, or of all")
    waiting: int
    running: int
    workers: int = Field(description="that take submissions; neither drained nor silent")


class QueueList(Strict):
    paused: Pause | None = Field(default=None, description="of all queues")
    queues: list[QueueView]


class PauseBody(Strict):
    """Body of POST /api/v1/queues/NAME/pause."""

    reason: str = Field(default="", max_length=limits.REASON_CHARS, description="shown to everyone who waits")


class WorkerState(StrEnum):
    IDLE = "idle"
    WORKING = "working"
    DRAINING = "draining"
    DRAINED = "drained"
    SILENT = "silent"
    OUT_OF_SERVICE = "out of service"
    ENDED = "ended"


class WorkerView(Strict):
    name: str
    device: str = Field(description="empty if it only compiles")
    compiles: bool
    host: str
    state: WorkerState
    submission: str | None = Field(default=None, description="the one it works on")
    started_at: datetime
    heard_of_at: datetime
    drained_at: datetime | None = None


class WorkerList(Strict):
    workers: list[WorkerView]


class ChallengeKind(Strict):
    challenge: str
    kind: JudgingReason
    chosen: bool = Field(description="true: set by staff; false: from the challenge's track")


class KindBody(Strict):
    """Body of POST /api/v1/challenges/SLUG/kind."""

    kind: JudgingReason | None = Field(default=None, description="null: from the challenge's track")


class Quota(Strict):
    limit: int
    used: int
    remaining: int
    frees_at: datetime | None = Field(
        default=None, description="when its window starts again; null without a window, or if nothing is used"
    )


class AssignmentQuota(Strict):
    """What an open assignment leaves for this challenge; null: no limit. A day is one of the course's time
    zone.
    """

    course: str
    assignment: str
    title: str
    due_at: datetime
    late_until: datetime | None
    day: int | None
    total: int | None
    pending: int | None


class Quotas(Strict):
    challenge: str
    waiting: Quota = Field(description="submissions waiting or running at once, for all challenges")
    submissions: Quota = Field(description="submissions for this challenge")
    window_s: float
    running: Quota = Field(description="runs at once, for all challenges")
    runs: Quota = Field(description="runs within an hour, for all challenges")
    assignments: list[AssignmentQuota] = Field(default_factory=list)


class OwnQuotas(Strict):
    """Of the caller."""

    waiting: Quota = Field(description="submissions waiting or running at once")
    running: Quota = Field(description="runs at once")
    runs: Quota = Field(description="runs within an hour")
    challenge: Quotas | None = Field(default=None, description="of the challenge that the query names")
    gpu: GpuTime
