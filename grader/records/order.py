"""Who is served next: one ordering, used by the claims and by the position that a student sees."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from sqlalchemy import CTE, ColumnElement, and_, case, func, literal_column, not_, or_, select
from sqlalchemy.orm import Session

from grader.languages import Language
from grader.records import queues
from grader.records.models import SubmissionRow
from grader.records.states import ACTIVE, FREE
from grader.schemas.submission import JudgingReason, State

# Ten apart, which is one step of those who wait long. A run has the priority of its challenge's kind.
PRIORITIES = {
    JudgingReason.FINAL: 20,
    JudgingReason.COMPETITION: 10,
    JudgingReason.COURSE: 0,
    JudgingReason.PRACTICE: -10,
    JudgingReason.REJUDGE: -20,
}
_STEP = 10
# What a student has waited for this long for goes up by one kind, and again after as long: however busy the higher ones
# are, two hours later it takes turns with them. Rejudges stay behind all students for as long as these come.
PATIENCE = timedelta(hours=1)

# A run takes the judge about a quarter of the time that a submission takes, so it uses up a quarter of a turn. And
# somebody sits and waits for it: it begins two turns ahead of graded work of the same priority. No more than that, so
# who runs all day falls behind those who submit, as who submits all day does; and graded work, as all that
# waits, is past all of it after an hour of patience.
_TURN, _RUN_TURN = 4, 1
_RUN_AHEAD = 2 * _TURN

# Fairness forgets after this long: who worked hard this morning is not last all day.
_LATELY = timedelta(hours=1)
# The mean of this many recent judgements gives the expected wait.
_SAMPLE = 20


def _compiled() -> ColumnElement[bool]:
    """Whether its language needs compiling."""
    return SubmissionRow.language.in_([it for it in Language if it.compiled])


def compilable() -> ColumnElement[bool]:
    """What the queue ``compile`` serves."""
    return and_(SubmissionRow.state == State.QUEUED, _compiled())


def runnable() -> ColumnElement[bool]:
    """What the queue of a device serves: what is compiled, and what needs no compiling ahead."""
    row = SubmissionRow
    # All states in one condition, here and below: an index can be searched for that, not for what is within OR.
    return and_(row.state.in_(FREE), or_(row.state == State.WAITING, not_(_compiled())))


def pending() -> ColumnElement[bool]:
    """What a device has yet to run. While it is compiled it keeps its place."""
    row = SubmissionRow
    free = row.state != State.COMPILING
    return and_(row.state.in_((*FREE, State.COMPILING)), or_(free, _compiled()))


def is_pending(row: SubmissionRow) -> bool:
    """The same of one row."""
    return row.state in FREE or (row.state is State.COMPILING and row.language.compiled)


def waiting_order(devices: Iterable[str], now: datetime) -> CTE:
    """What is pending on ``devices``, together, with its ``place`` (1 = next).

    By priority (with what it gained by waiting), then by turn, then by age. A turn is what its user was served
    lately plus the user's own submissions ahead of it, so that the order is the one in which claims will really
    happen if nobody else comes. A user's own runs go first, and a run is ahead by some turns. A claim takes the first
    that it can serve.
    """
    row = SubmissionRow
    # A sum, which no index of users is sorted by: one by time reads the last hour's, one by user reads all there are.
    who = row.user_id + literal_column("0")
    lately = (
        select(who.label("user_id"), func.sum(_turns()).label("claimed"))
        # What is pending counts among the user's own ahead, not once more among what was served.
        # What staff have judged again is not charged to its author at all.
        .where(row.claimed_at > now - _LATELY, not_(pending()), func.coalesce(row.rejudge_of, 0) == 0)
        .group_by(who)
        .cte("lately")
    )
    priority = _priority(now)
    final = SubmissionRow.kind == JudgingReason.FINAL
    ahead = case((row.kind == JudgingReason.RUN, _RUN_AHEAD), else_=0)
    own = func.sum(_turns()).over(
        partition_by=row.user_id,
        order_by=(priority.desc(), ahead.desc(), row.created_at, row.id),
        rows=(None, 0),
    )
    turns = (
        select(
            row.id,
            priority.label("priority"),
            row.created_at,
            # A final has an order of its own, by the times that its rows are given.
            case((final, 0), else_=func.coalesce(lately.c.claimed, 0) + own - ahead).label("turn"),
        )
        .outerjoin(lately, lately.c.user_id == row.user_id)
        .where(pending(), row.device.in_(list(devices)))
        .cte("turns")
    )
    place = func.row_number().over(
        order_by=(turns.c.priority.desc(), turns.c.turn, turns.c.created_at, turns.c.id)
    )
    return select(turns.c.id, place.label("place")).cte("waiting_order")


def _turns() -> ColumnElement[int]:
    """How much of its user's turns one row uses up."""
    return case((SubmissionRow.kind == JudgingReason.RUN, _RUN_TURN), else_=_TURN)


def _priority(now: datetime) -> ColumnElement[int]:
    """That of its kind, higher after long waiting, and never above the highest kind that people hand in."""
    row, highest = SubmissionRow, PRIORITIES[JudgingReason.COMPETITION]
    student = row.priority > PRIORITIES[JudgingReason.REJUDGE]
    return case(
        (and_(student, row.priority < highest, row.created_at <= now - 2 * PATIENCE), highest),
        (and_(student, row.priority < highest, row.created_at <= now - PATIENCE), row.priority + _STEP),
        else_=row.priority,
    )


def positions(session: Session, device: str, now: datetime, compiled: bool = True) -> dict[int, int]:
    """Row id -> place for everything that waits for ``device``.

    While the queue ``compile`` is paused or nobody serves it (``compiled`` false), what is to be compiled stands behind
    what is not: claims pass it over.
    """
    order = waiting_order([device], now)
    if compiled and queues.COMPILE not in queues.pauses(session).rows:
        return {row.id: row.place for row in session.execute(select(order.c.id, order.c.place))}
    row = SubmissionRow
    held_up = case((compilable(), 1), else_=0)
    ids = session.scalars(select(order.c.id).join(row, row.id == order.c.id).order_by(held_up, order.c.place))
    return {id: place for place, id in enumerate(ids, 1)}


def mean_seconds(session: Session, device: str) -> float | None:
    """How long one submission keeps a worker of ``device`` busy: the mean of recent ones; None without a history.

    From the last claim on: what is compiled ahead and waits holds up nobody meanwhile.
    """
    row = SubmissionRow
    spans = session.execute(
        select(row.claimed_at, row.finished_at)
        .where(row.device == device, row.state == State.DONE, row.claimed_at.is_not(None))
        .order_by(row.finished_at.desc())
        .limit(_SAMPLE)
    ).all()
    seconds = [(end - start).total_seconds() for start, end in spans if start and end]
    return sum(seconds) / len(seconds) if seconds else None


def running(session: Session, device: str, now: datetime) -> dict[str, float]:
    """Worker -> seconds since it took what it judges on ``device`` now."""
    row = SubmissionRow
    held = session.execute(
        select(row.worker, row.claimed_at).where(
            row.device == device, row.state.in_(ACTIVE), not_(pending()), row.claimed_at.is_not(None)
        )
    )
    return {worker: max(0.0, (now - since).total_seconds()) for worker, since in held if worker and since}


def uncompiled(session: Session) -> int:
    """How many submissions wait to be compiled."""
    return session.scalar(select(func.count()).where(compilable())) or 0
