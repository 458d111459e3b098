"""What staff watch: queues, workers with their GPUs, waiting times, failures of ours, and what must be fixed."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from grader.schemas.hardware import GpuReading
from grader.schemas.queue import QueueList, WorkerView
from grader.schemas.strict import Strict
from grader.schemas.submission import Alert


class WatchedWorker(Strict):
    """``reading``: how its GPU is; ``fault``: why it starts no boxes, or why its GPU is out of service."""

    worker: WorkerView
    gpu: str | None
    reading: GpuReading | None
    fault: str


class HourFigures(Strict):
    """What ended within one hour. ``wait_s``: from the submission until a worker took it, median and 95th of a
    hundred."""

    hour: datetime
    judged: int
    failed: int
    wait_s: float | None
    wait_95_s: float | None


class OurFailure(Strict):
    """A submission that the platform failed to judge; it cost its author nothing."""

    submission: str
    challenge: str
    device: str
    at: datetime | None
    error: str


class Operations(Strict):
    """``waits``: device -> seconds that its oldest submission has waited. ``hours``: the last day, the oldest first."""

    queues: QueueList
    waits: dict[str, float]
    workers: list[WatchedWorker]
    hours: list[HourFigures]
    failures: list[OurFailure]
    alerts: list[Alert] = Field(description="what must be fixed, and how")
    checks_waiting: int = Field(description="uploaded challenges that wait for a worker")
