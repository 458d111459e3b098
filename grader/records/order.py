"""Who is served next: one ordering, used by the claim and by the position that a student sees."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import CTE, ColumnElement, func, select
from sqlalchemy.orm import Session

from grader.records import workers
from grader.records.models import SubmissionRow
from grader.records.states import ACTIVE
from grader.schemas.report import Language
from grader.schemas.submission import State

# Fairness forgets after this long: who worked hard this morning is not last all day.
_LATELY = timedelta(hours=1)
# The mean of this many recent judgements tells the expected wait.
_SAMPLE = 20


def waiting_order(device: str, now: datetime, languages: Sequence[Language] | None = None) -> CTE:
    """Waiting submissions of ``device`` with their ``place`` (1 = next).

    By priority, then by turn, then by age. A turn is what its user was served lately plus the user's own
    submissions ahead of it, so that the order is the one in which claims will really happen if nobody else
    comes.
    """
    row = SubmissionRow
    lately = (
        select(row.user_id, func.count().label("claimed"))
        .where(row.claimed_at > now - _LATELY)
        .group_by(row.user_id)
        .cte("lately")
    )
    own = func.row_number().over(
        partition_by=row.user_id, order_by=(row.priority.desc(), row.created_at, row.id)
    )
    conditions: list[ColumnElement[bool]] = [row.state == State.QUEUED, row.device == device]
    if languages is not None:
        conditions.append(row.language.in_(languages))
    turns = (
        select(row.id, row.priority, row.created_at, (func.coalesce(lately.c.claimed, 0) + own).label("turn"))
        .outerjoin(lately, lately.c.user_id == row.user_id)
        .where(*conditions)
        .cte("turns")
    )
    place = func.row_number().over(
        order_by=(turns.c.priority.desc(), turns.c.turn, turns.c.created_at, turns.c.id)
    )
    return select(turns.c.id, place.label("place")).cte("waiting_order")


def positions(session: Session, device: str, now: datetime) -> dict[int, int]:
    """Row id -> place for everything that waits for ``device``."""
    order = waiting_order(device, now)
    return {row.id: row.place for row in session.execute(select(order.c.id, order.c.place))}


def seconds_a_place(session: Session, device: str, now: datetime, silent_s: float) -> float | None:
    """How long the queue of ``device`` takes to move by one place; None where nothing tells (no worker, no
    history).
    """
    serving = sum(worker.device == device for worker in workers.alive(session, now, silent_s))
    row = SubmissionRow
    spans = session.execute(
        select(row.started_at, row.finished_at)
        .where(row.device == device, row.state == State.DONE, row.started_at.is_not(None))
        .order_by(row.finished_at.desc())
        .limit(_SAMPLE)
    ).all()
    seconds = [(end - start).total_seconds() for start, end in spans if start and end]
    if not serving or not seconds:
        return None
    return sum(seconds) / len(seconds) / serving


def running(session: Session, device: str) -> int:
    """How many submissions are being judged on ``device``."""
    row = SubmissionRow
    count = session.scalar(select(func.count()).where(row.device == device, row.state.in_(ACTIVE)))
    return count or 0
