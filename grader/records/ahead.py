"""Submissions behind busy GPUs whose kernels can be compiled before their turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.device_kinds import compiled_ahead
from grader.languages import Language
from grader.records import gpus, queues, workers
from grader.records.models import SubmissionRow
from grader.records.order import Moments, waiting_order
from grader.records.states import ACTIVE
from grader.schemas.submission import State

_MOST = 16


@dataclass(frozen=True)
class WaitingSource:
    public_id: str
    user: int
    challenge: str
    language: Language
    source: str
    request_id: str | None
    # For nvcc, such as sm_90a.
    architecture: str


def behind_busy_devices(session: Session, now: datetime, silent_s: float) -> list[WaitingSource]:
    """The next few of each device whose workers are all busy, in order.

    Claims and locks nothing: a worker may take one of them a moment later.
    """
    paused = queues.pauses(session)
    if paused.of(queues.COMPILE):
        return []
    table = SubmissionRow
    languages = [language for language in Language if language.kernels_ahead]
    theirs = (table.state == State.QUEUED, table.language.in_(languages))
    pairs = session.execute(select(table.device, table.language).where(*theirs).distinct())
    devices = sorted({device for device, language in pairs if compiled_ahead(device, language)})
    if not devices:
        return []
    known = gpus.architectures(session)
    return [
        source
        for device in devices
        if device in known and not paused.of(device) and _all_hold_one(session, device, now, silent_s)
        for source in _next(session, device, known[device], languages, now)
    ]


def _all_hold_one(session: Session, device: str, now: datetime, silent_s: float) -> bool:
    there = workers.serving(session, device, now, silent_s)
    serving = {worker.name for worker in there if not worker.sandbox_fault}
    holding = session.scalars(select(SubmissionRow.worker).where(SubmissionRow.state.in_(ACTIVE)))
    return bool(serving) and serving <= set(holding)


def _next(
    session: Session, device: str, architecture: str, languages: list[Language], now: datetime
) -> Iterator[WaitingSource]:
    table, order = SubmissionRow, waiting_order([device], Moments.of(now))
    columns = (
        table.public_id,
        table.user_id,
        table.challenge,
        table.language,
        table.source,
        table.request_id,
    )
    query = (
        select(*columns)
        .join(order, order.c.id == table.id)
        .where(table.state == State.QUEUED, table.language.in_(languages))
        .order_by(order.c.priority.desc(), order.c.busy, order.c.place)
        .limit(_MOST)
    )
    return (WaitingSource(*found, architecture) for found in session.execute(query))
