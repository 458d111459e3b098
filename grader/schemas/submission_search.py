"""What operators are shown of submissions, and of what chores did."""

from __future__ import annotations

from datetime import datetime

from grader.languages import Language
from grader.schemas.report import Verdict
from grader.schemas.strict import Strict
from grader.schemas.submission import JudgingReason, State


class FoundSubmission(Strict):
    """One submission without source and report. ``request_id`` is in its log lines, next to ``id``;
    ``failures`` are ours."""

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
    failures: int
    worker: str | None
    error: str
    request_id: str | None
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
    """Ids of what waits again."""

    submissions: list[str]


class Forgotten(Strict):
    """``name``: what boards show now."""

    name: str
    submissions: int
    cancelled: int


class Pruned(Strict):
    """How many rows were (or with ``dry_run`` would be) removed; reports' ``bytes``."""

    dry_run: bool
    reports: int = 0
    report_bytes: int = 0
    artefacts: int = 0
    tokens: int = 0
    links: int = 0
    device_codes: int = 0
    runs: int = 0
    workers: int = 0
    notices: int = 0
