"""Submissions in bulk: JSON lines in, JSON lines out."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field, StrictBool, field_validator

from grader import limits
from grader.schemas.report import Verdict
from grader.schemas.strict import Strict
from grader.schemas.submission import ErrorBody, State


class BatchLine(Strict):
    """A line of the body of POST /api/v1/batches."""

    id: str = Field(
        min_length=1,
        max_length=limits.BATCH_ID_CHARS,
        description="your own, unique in the batch; a line that is sent again is known by it",
    )
    challenge: str = Field(max_length=limits.SLUG_CHARS)
    language: str | None = Field(default=None, description="cuda or triton; by default from the filename")
    source: str
    filename: str = Field(default="solution", max_length=limits.FILENAME_CHARS)
    device: str | None = Field(default=None, description="the device that judges; by default the platform's")
    run: StrictBool = Field(default=False, description="public cases only: no hidden cases, times or rank")

    @field_validator("id")
    @classmethod
    def _printable(cls, value: str) -> str:
        if not value.isprintable():
            raise ValueError("use printable characters")
        return value


class BatchResult(Strict):
    """A line of the answer of GET /api/v1/batches/<batch>/results."""

    number: int = Field(default=0, description="in the order in which they ended, from 1")
    line: int = Field(description="of the file that was sent")
    id: str | None = Field(default=None, description="yours; null if the line has none")
    submission: str | None = Field(default=None, description="names its report; null if there is none")
    challenge: str = Field(default="", description="empty if it did not enter the queue")
    state: State | None = Field(default=None, description="done, failed or cancelled; null: it was refused")
    verdict: Verdict | None = None
    time_us: float | None = None
    ci: tuple[float, float] | None = Field(default=None, description="interval of the time, microseconds")
    speedup: float | None = None
    passed: int | None = Field(default=None, description="cases")
    total: int | None = Field(default=None, description="cases")
    error: ErrorBody | None = Field(default=None, description="why it was refused, or the platform failed")


class BatchQuery(Strict):
    """Query of POST /api/v1/batches."""

    name: str = Field(
        min_length=1,
        max_length=limits.NAME_CHARS,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$",
        description="yours for the batch: the same name adds to it, and lines that it has are skipped",
    )
    first_line: int = Field(
        default=1, ge=1, le=1_000_000_000, description="the number of the body's first line in your file"
    )


class BatchView(Strict):
    id: str
    name: str
    created_at: datetime
    cancelled_at: datetime | None = None
    finished_at: datetime | None = Field(default=None, description="when the last one ended; null before")
    total: int
    held: int = Field(description="lines that wait until your limits let them into the queue")
    open: int = Field(description="in the queue, or being judged")
    ended: int = Field(description="results that there are")
    counts: dict[str, int] = Field(description="of `ended`, by verdict, or by cancelled and refused")
    held_for: str = Field(default="", description="the limit for which lines wait, if it is not their turn")


class BatchReceipt(Strict):
    """The answer to POST /api/v1/batches."""

    batch: BatchView
    new: int = Field(description="lines that were taken")
    known: int = Field(description="lines that the batch had")
    refused: int = Field(description="of `new`: those whose result is an error")


class BatchList(Strict):
    batches: list[BatchView]
