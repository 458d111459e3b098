"""Who is served next: one ordering, used by the claims and by the position that a student sees."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from sqlalchemy import CTE, ColumnElement, and_, func, not_, or_, select
from sqlalchemy.orm import Session

from grader.records import workers
from grader.records.models import SubmissionRow
from grader.records.states import ACTIVE, FREE
from grader.schemas.report import Language
from grader.schemas.submission import State

# Fairness forgets after this long: who worked hard this morning is not last all day.
_LATELY = timedelta(hours=1)
# The mean of this many recent judgements tells the expected wait.
_SAMPLE = 20


def compilable() -> ColumnElement[bool]:
    """What the queue ``compile`` serves."""
    return and_(SubmissionRow.state == State.QUEUED, SubmissionRow.language == Language.CUDA)


def runnable() -> ColumnElement[bool]:
    """What the queue of a device serves: what is compiled, and what needs no compiling ahead."""
    row = SubmissionRow
    return or_(row.state == State.WAITING, and_(row.state == State.QUEUED, row.language != Language.CUDA))


def pending() -> ColumnElement[bool]:
    """What a device has yet to run. While it is compiled it keeps its place."""
    row = SubmissionRow
    compiling = and_(row.state == State.COMPILING, row.language == Language.CUDA)
    return or_(row.state.in_(FREE), compiling)


def is_pending(row: SubmissionRow) -> bool:
    """The same of one row."""
    return row.state in FREE or (row.state is State.COMPILING and row.language is Language.CUDA)


def waiting_order(devices: Iterable[str], now: datetime) -> CTE:
    """What is pending on ``devices``, together, with its ``place`` (1 = next).

    By priority, then by turn, then by age. A turn is what its user was served lately plus the user's own
    submissions ahead of it, so that the order is the one in which claims will really happen if nobody else
    comes. A claim takes the first that it can serve.
    """
    row = SubmissionRow
    lately = (
        select(row.user_id, func.count().label("claimed"))
        # What is pending counts among the user's own ahead, not once more among what was served.
        # What staff have judged again is not charged to its author at all.
        .where(row.claimed_at > now - _LATELY, not_(pending()), row.rejudge_of.is_(None))
        .group_by(row.user_id)
        .cte("lately")
    )
    own = func.row_number().over(
        partition_by=row.user_id, order_by=(row.priority.desc(), row.created_at, row.id)
    )
    turns = (
        select(row.id, row.priority, row.created_at, (func.coalesce(lately.c.claimed, 0) + own).label("turn"))
        .outerjoin(lately, lately.c.user_id == row.user_id)
        .where(pending(), row.device.in_(list(devices)))
        .cte("turns")
    )
    place = func.row_number().over(
        order_by=(turns.c.priority.desc(), turns.c.turn, turns.c.created_at, turns.c.id)
    )
    return select(turns.c.id, place.label("place")).cte("waiting_order")


def positions(session: Session, device: str, now: datetime) -> dict[int, int]:
    """Row id -> place for everything that waits for ``device``."""
    order = waiting_order([device], now)
    return {row.id: row.place for row in session.execute(select(order.c.id, order.c.place))}


def seconds_a_place(session: Session, device: str, now: datetime, silent_s: float) -> float | None:
    """How long the queue of ``device`` takes to move by one place; None where nothing tells (no worker, no
    history).

    From the last claim on: what is compiled ahead and waits holds up nobody meanwhile.
    """
    serving = sum(worker.device == device for worker in workers.alive(session, now, silent_s))
    row = SubmissionRow
    spans = session.execute(
        select(row.claimed_at, row.finished_at)
        .where(row.device == device, row.state == State.DONE, row.claimed_at.is_not(None))
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
    count = session.scalar(
        select(func.count()).where(row.device == device, row.state.in_(ACTIVE), not_(pending()))
    )
    return count or 0


def uncompiled(session: Session) -> int:
    """How many submissions wait to be compiled."""
    return session.scalar(select(func.count()).where(compilable())) or 0
