"""The platform's state for staff, and repairs without a shell."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.records import figures, uploads
from grader.records.engine import clock, writing
from grader.records.models import SubmissionRow, WorkerRow
from grader.schemas.hardware import GpuReading
from grader.schemas.operations import HourFigures, Operations, OurFailure, WatchedWorker
from grader.schemas.submission import State
from grader.schemas.submission_search import Requeued
from grader.service import audit
from grader.service.accounts.accounts import User
from grader.service.courses import permissions
from grader.service.courses.permissions import Action
from grader.service.operation import fleets, health, queues, requeue
from grader.service.platform import Platform

_HOURS = 24
_FAILURES = 20
_ERROR_CHARS = 300


def overview(platform: Platform, user: User) -> Operations:
    """Raises NotAllowed."""
    with platform.sessions() as session:
        permissions.check(user, permissions.standings(session, user), Action.OPERATIONS_READ)
        now = clock(session)
        waits = figures.oldest_waits(session, now)
        hours = _hours(session, now)
        failures = _failures(session)
        rows = {row.name: row for row in session.scalars(select(WorkerRow))}
        waiting = uploads.waiting(session, now)
        pools = fleets.pools(session, now)
    return Operations(
        queues=queues.list_queues(platform),
        waits=waits,
        workers=[
            WatchedWorker(
                worker=worker,
                gpu=rows[worker.name].gpu,
                reading=_reading(rows[worker.name]),
                fault=rows[worker.name].out_of_service or rows[worker.name].sandbox_fault,
            )
            for worker in queues.list_workers(platform, user).workers
            if worker.name in rows
        ],
        hours=hours,
        failures=failures,
        alerts=health.health(platform).alerts,
        checks_waiting=waiting,
        pools=pools,
    )


def _reading(row: WorkerRow) -> GpuReading | None:
    alive = row.reading is not None and row.ended_at is None
    return GpuReading.model_validate(row.reading) if alive else None


def _hours(session: Session, now: datetime) -> list[HourFigures]:
    last = now.replace(minute=0, second=0, microsecond=0)
    since = last - timedelta(hours=_HOURS - 1)
    found = session.execute(
        select(
            SubmissionRow.created_at, SubmissionRow.claimed_at, SubmissionRow.finished_at, SubmissionRow.state
        ).where(SubmissionRow.finished_at >= since, SubmissionRow.rejudge_of.is_(None))
    )
    ended: dict[datetime, list[tuple[State, float | None]]] = {}
    for created, claimed, finished, state in found:
        if finished is None:
            continue
        hour = finished.replace(minute=0, second=0, microsecond=0)
        wait = (claimed - created).total_seconds() if claimed is not None else None
        ended.setdefault(hour, []).append((state, wait))
    return [_hour(since + timedelta(hours=n), ended) for n in range(_HOURS)]


def _hour(hour: datetime, ended: dict[datetime, list[tuple[State, float | None]]]) -> HourFigures:
    there = ended.get(hour, [])
    waits = sorted(max(wait, 0.0) for _, wait in there if wait is not None)
    return HourFigures(
        hour=hour,
        judged=sum(state is State.DONE for state, _ in there),
        failed=sum(state is State.FAILED for state, _ in there),
        wait_s=_part(waits, 0.5),
        wait_95_s=_part(waits, 0.95),
    )


def _part(values: Sequence[float], share: float) -> float | None:
    """Of sorted ``values``."""
    return round(values[min(len(values) - 1, int(share * len(values)))], 2) if values else None


def _failures(session: Session) -> list[OurFailure]:
    found = session.execute(
        select(
            SubmissionRow.public_id,
            SubmissionRow.challenge,
            SubmissionRow.device,
            SubmissionRow.finished_at,
            SubmissionRow.error,
        )
        .where(SubmissionRow.state == State.FAILED)
        .order_by(SubmissionRow.id.desc())
        .limit(_FAILURES)
    )
    return [
        OurFailure(submission=id_, challenge=challenge, device=device, at=at, error=error[:_ERROR_CHARS])
        for id_, challenge, device, at, error in found
    ]


def retry(platform: Platform, user: User | None, submissions: Sequence[str]) -> Requeued:
    """Without names all that failed through the platform's fault. ``user`` None: a command on the server. Raises
    NotAllowed, NotFound, Conflict."""
    if user is not None:
        with platform.sessions() as session:
            permissions.check(user, permissions.standings(session, user), Action.SUBMISSION_REQUEUE)
    done = requeue.requeue(platform, submissions)
    with writing(platform.sessions) as session:
        for submission in done.submissions:
            audit.note(session, user, Action.SUBMISSION_REQUEUE, f"/submissions/{submission}")
    return done
