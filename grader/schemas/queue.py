"""Queues, workers and quotas as API, CLI and pages see them."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from grader import limits
from grader.schemas.strict import Strict
from grader.schemas.submission import JudgingReason


class Pause(Strict):
    """``reason`` is what staff wrote for everyone to read."""

    reason: str
    since: datetime


class QueueView(Strict):
    """One queue: a device, or ``compile``. ``workers`` take what waits there; what is drained or silent does not."""

    name: str
    paused: Pause | None = Field(default=None, description="of this queue, or of all")
    waiting: int
    running: int
    workers: int


class QueueList(Strict):
    paused: Pause | None = Field(default=None, description="of all queues together")
    queues: list[QueueView]


class PauseBody(Strict):
    """The body of POST /api/v1/queues/NAME/pause."""

    reason: str = Field(default="", max_length=limits.REASON_CHARS, description="shown to everyone who waits")


class WorkerState(StrEnum):
    """What a worker is doing."""

    IDLE = "idle"
    WORKING = "working"
    DRAINING = "draining"
    DRAINED = "drained"
    SILENT = "silent"
    OUT_OF_SERVICE = "out of service"
    ENDED = "ended"


class WorkerView(Strict):
    """``device`` is empty where it only compiles. ``submission`` is what it has in hand."""

    name: str
    device: str
    compiles: bool
    host: str
    state: WorkerState
    submission: str | None = None
    started_at: datetime
    heard_of_at: datetime
    drained_at: datetime | None = None


class WorkerList(Strict):
    workers: list[WorkerView]


class ChallengeKind(Strict):
    """``chosen``: staff said so; else the challenge's track does."""

    challenge: str
    kind: JudgingReason
    chosen: bool


class KindBody(Strict):
    """The body of POST /api/v1/challenges/SLUG/kind. Nothing: as the challenge's track says."""

    kind: JudgingReason | None = None


class Quota(Strict):
    """``remaining`` of ``limit``; the window starts again at ``frees_at``, where it has one and something is used."""

    limit: int
    used: int
    remaining: int
    frees_at: datetime | None = None


class AssignmentQuota(Strict):
    """What is left for this challenge of an assignment that is open now; none: it has no such limit. A day is one of
    the course's time zone."""

    course: str
    assignment: str
    title: str
    due_at: datetime
    late_until: datetime | None
    day: int | None
    total: int | None
    pending: int | None


class Quotas(Strict):
    """``waiting``: submissions that wait or run at once, for all challenges; ``submissions``: for this challenge.
    ``running`` and ``runs``: runs at once, and within an hour, for all challenges."""

    challenge: str
    waiting: Quota
    submissions: Quota
    window_s: float
    running: Quota
    runs: Quota
    assignments: list[AssignmentQuota] = Field(default_factory=list)
