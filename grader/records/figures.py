"""Figures for operators, from indices alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from grader.records import workers
from grader.records.models import SubmissionRow, WorkerRow
from grader.records.order import pending
from grader.records.states import UNFINISHED
from grader.schemas.submission import JudgingReason


@dataclass(frozen=True)
class Verdicts:
    challenge: str
    language: str
    device: str
    verdict: str
    run: bool
    count: int


@dataclass(frozen=True)
class GpuFigures:
    uuid: str
    device: str
    host: str
    in_service: bool


def unfinished(session: Session) -> dict[tuple[str, str], int]:
    table = SubmissionRow
    counted = select(table.device, table.state, func.count()).where(table.state.in_(UNFINISHED))
    return {
        (device, state.value): count
        for device, state, count in session.execute(counted.group_by(table.device, table.state))
    }


def oldest_waits(session: Session, now: datetime) -> dict[str, float]:
    table = SubmissionRow
    found = session.execute(
        select(table.device, func.min(table.created_at)).where(pending()).group_by(table.device)
    )
    return {device: max(0.0, (now - since).total_seconds()) for device, since in found}


def verdicts(session: Session) -> list[Verdicts]:
    table = SubmissionRow
    # The columns of one index, in its order.
    keys = (table.challenge, table.language, table.device, table.verdict, table.kind)
    counts: Counter[tuple[str, str, str, str, bool]] = Counter()
    for challenge, language, device, verdict, kind, count in session.execute(
        select(*keys, func.count()).group_by(*keys)
    ):
        if verdict is not None:
            counts[challenge, language.value, device, verdict.value, kind is JudgingReason.RUN] += count
    return [Verdicts(*key, count) for key, count in counts.items()]


def serving(session: Session, now: datetime, silent_s: float) -> dict[str, int]:
    """Living workers; those that only compile are under ``compile``."""
    alive = {row.name: row for row in workers.alive(session, now, silent_s)}
    alive |= {row.name: row for row in workers.compiling(session, now, silent_s)}
    found: dict[str, int] = {}
    for row in alive.values():
        device = row.device or "compile"
        found[device] = found.get(device, 0) + 1
    return found


def gpus(session: Session, now: datetime, silent_s: float) -> list[GpuFigures]:
    serving = {row.name for row in workers.alive(session, now, silent_s)}
    rows = session.scalars(select(WorkerRow).where(WorkerRow.gpu.is_not(None)).order_by(WorkerRow.name))
    return [
        GpuFigures(row.gpu, row.device, row.host, row.name in serving)
        for row in rows
        if row.gpu and (row.name in serving or row.out_of_service)
    ]
