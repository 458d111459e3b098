from __future__ import annotations

from datetime import datetime

from pydantic import Field

from grader.schemas.fleet import PoolView
from grader.schemas.hardware import GpuReading
from grader.schemas.queue import QueueList, WorkerView
from grader.schemas.strict import Strict
from grader.schemas.submission import Alert


class WatchedWorker(Strict):
    worker: WorkerView
    gpu: str | None
    reading: GpuReading | None = Field(description="the GPU's state")
    fault: str = Field(description="why it starts no boxes, or why its GPU is out of service")


class HourFigures(Strict):
    """Submissions that ended within one hour."""

    hour: datetime
    judged: int
    failed: int
    wait_s: float | None = Field(description="seconds until a worker took one, median")
    wait_95_s: float | None = Field(description="the same, 95th percentile")


class OurFailure(Strict):
    """The platform failed to judge the submission; it cost its author nothing."""

    submission: str
    challenge: str
    device: str
    at: datetime | None
    error: str


class Operations(Strict):
    queues: QueueList
    waits: dict[str, float] = Field(description="device -> seconds that its oldest submission has waited")
    workers: list[WatchedWorker]
    hours: list[HourFigures] = Field(description="the last day, oldest first")
    failures: list[OurFailure]
    alerts: list[Alert] = Field(description="problems to fix, and how")
    pools: list[PoolView] = Field(description="of a fleet of pilots, if there is one")
    checks_waiting: int = Field(description="uploaded challenges waiting for a worker")
