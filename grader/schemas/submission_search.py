from __future__ import annotations

from datetime import datetime

from pydantic import Field

from grader.languages import Language
from grader.schemas.report import Verdict
from grader.schemas.strict import Strict
from grader.schemas.submission import JudgingReason, State


class FoundSubmission(Strict):
    """Without source and report."""

    id: str
    user: str
    challenge: str
    version: int
    language: Language
    device: str
    filename: str
    kind: JudgingReason
    state: State
    verdict: Verdict | None
    attempt: int
    failures: int = Field(description="failures of the platform")
    worker: str | None
    error: str
    request_id: str | None = Field(description="in its log lines, next to `id`")
    time_us: float | None
    ci_lo_us: float | None
    ci_hi_us: float | None
    speedup: float | None
    passed: int | None
    total: int | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class FoundSubmissionList(Strict):
    submissions: list[FoundSubmission]


class Requeued(Strict):
    """They wait again."""

    submissions: list[str] = Field(description="ids")


class Forgotten(Strict):
    """An account that was removed."""

    name: str = Field(description="the name on boards from now on")
    submissions: int
    cancelled: int


class Pruned(Strict):
    """Rows removed, or with ``dry_run`` to be removed."""

    dry_run: bool
    reports: int = 0
    report_bytes: int = 0
    artefacts: int = 0
    tokens: int = 0
    links: int = 0
    device_codes: int = 0
    runs: int = 0
    workers: int = 0
    batches: int = 0
    notices: int = 0
