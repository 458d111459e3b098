"""The order of the queue, for claims and for the position that students see."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import datetime, timedelta

from sqlalchemy import (
    CTE,
    ColumnElement,
    and_,
    bindparam,
    case,
    func,
    literal,
    literal_column,
    not_,
    or_,
    select,
)
from sqlalchemy.orm import Session

from grader.languages import Language
from grader.records import queues
from grader.records.durations import Work
from grader.records.epoch import Seconds
from grader.records.models import SubmissionRow
from grader.records.models.base import UtcDateTime
from grader.records.states import ACTIVE, FREE
from grader.schemas.submission import JudgingReason, State

# A run has the priority of its challenge's kind.
PRIORITIES = {
    JudgingReason.FINAL: 20,
    JudgingReason.COMPETITION: 10,
    JudgingReason.COURSE: 0,
    JudgingReason.PRACTICE: -10,
    JudgingReason.REJUDGE: -20,
}
# A batch's submissions are behind those of people, and patience never raises them, so no program can delay a class.
# Equal to rejudges: neither starves the other.
BATCH = PRIORITIES[JudgingReason.REJUDGE]
_STEP = 10
# After each such wait, a student's submission goes up by one kind (10). Rejudges and batches stay behind all
# students' submissions.
PATIENCE = timedelta(hours=1)

# A run takes about a quarter of a submission's time. Somebody watches it, so it starts two turns ahead;
# graded work is ahead of all runs after an hour of patience.
TURN, RUN_TURN = 4, 1
RUN_AHEAD = 2 * TURN
# Each recent turn of an author puts a submission back by this many seconds, or by this factor of the time
# taken if that is more. By turns alone, new people would always overtake, and nobody could predict a wait.
TURN_BACK_S = 20.0
TAKEN_BACK = 4.0
# After this many turns all others go first: nobody's first submission waits behind somebody's fifth.
_MANY = 4 * TURN
MANY_BACK_S = 900.0

LATELY = timedelta(hours=1)


def _compiled() -> ColumnElement[bool]:
    return SubmissionRow.language.in_([language for language in Language if language.compiled])


def compilable() -> ColumnElement[bool]:
    return and_(SubmissionRow.state == State.QUEUED, _compiled())


def runnable() -> ColumnElement[bool]:
    """Compiled ones, and those that need no compiling."""
    table = SubmissionRow
    # All states in one condition, here and below: an index cannot search within OR.
    return and_(table.state.in_(FREE), or_(table.state == State.WAITING, not_(_compiled())))


def pending() -> ColumnElement[bool]:
    """Yet to run, including those being compiled."""
    table = SubmissionRow
    free = table.state != State.COMPILING
    return and_(table.state.in_((*FREE, State.COMPILING)), or_(free, _compiled()))


def is_pending(row: SubmissionRow) -> bool:
    return row.state in FREE or (row.state is State.COMPILING and row.language.compiled)


Moment = datetime | ColumnElement[datetime]


@dataclass(frozen=True)
class Moments:
    now: Moment
    lately: Moment
    patient: Moment
    most_patient: Moment

    @classmethod
    def of(cls, now: datetime) -> Moments:
        return cls(now, now - LATELY, now - PATIENCE, now - 2 * PATIENCE)

    @classmethod
    def parameters(cls) -> Moments:
        """Built once: building takes long, and claims hold SQLite's lock."""
        return cls(*(bindparam(field.name, type_=UtcDateTime) for field in fields(cls)))

    @property
    def values(self) -> dict[str, Moment]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


def waiting_order(devices: Iterable[str], at: Moments) -> CTE:
    """Pending submissions of ``devices`` in one queue, with ``place`` (1 = next) and ``busy`` (1 if a device
    judges another one of the author, else 0).

    By priority, then by ``due``: the time of submission (seconds since 1970), put back by the author's recent
    turns and own submissions ahead. A claim takes the first that it can serve, at the same priority those not
    ``busy`` first: otherwise an author could quickly hold two workers.
    """
    table, on = SubmissionRow, list(devices)
    # A sum, so the index by time is used.
    who = table.user_id + literal_column("0")
    lately = (
        select(
            who.label("user_id"),
            func.sum(_turns()).label("claimed"),
            func.sum(_taken_back(at.now)).label("seconds"),
            func.max(
                case((and_(table.state.in_(ACTIVE), table.device.in_(on), of_author()), 1), else_=0)
            ).label("busy"),
        )
        # Pending ones already count among the user's own ahead. Rejudges by staff are not charged.
        .where(table.claimed_at > at.lately, not_(pending()), func.coalesce(table.rejudge_of, 0) == 0)
        .group_by(who)
        .cte("lately")
    )
    priority = _priority(at)
    final = SubmissionRow.kind == JudgingReason.FINAL
    ahead = case((table.kind == JudgingReason.RUN, RUN_AHEAD), else_=0)
    own = func.sum(_turns()).over(
        partition_by=table.user_id,
        order_by=(priority.desc(), ahead.desc(), table.created_at, table.id),
        rows=(None, 0),
    )
    mine = own - _turns()
    back = func.coalesce(lately.c.seconds, 0.0) + (mine - ahead) * literal(TURN_BACK_S / TURN)
    back += far_back(func.coalesce(lately.c.claimed, 0) + mine)
    turns = (
        select(
            table.id,
            table.user_id,
            priority.label("priority"),
            table.created_at,
            # Finals go by the times of their rows.
            (Seconds(table.created_at) + case((final, 0.0), else_=back)).label("due"),
            case((final, 0), else_=func.coalesce(lately.c.busy, 0)).label("busy"),
        )
        .outerjoin(lately, lately.c.user_id == table.user_id)
        .where(pending(), table.device.in_(on))
        .cte("turns")
    )
    place = func.row_number().over(
        order_by=(turns.c.priority.desc(), turns.c.due, turns.c.created_at, turns.c.id)
    )
    columns = (turns.c.id, turns.c.user_id, turns.c.priority, turns.c.due, turns.c.busy)
    return select(*columns, place.label("place")).cte("waiting_order")


def of_author() -> ColumnElement[bool]:
    """No rejudges by staff, no finals."""
    table = SubmissionRow
    return and_(func.coalesce(table.rejudge_of, 0) == 0, table.kind != JudgingReason.FINAL)


def far_back(had: ColumnElement[int]) -> ColumnElement[float]:
    return case((had >= _MANY, MANY_BACK_S), else_=0.0)


def _taken_back(now: Moment) -> ColumnElement[float]:
    """Seconds by which a claimed submission puts its author's next one back."""
    table = SubmissionRow
    taken = Seconds(func.coalesce(table.finished_at, now)) - Seconds(table.claimed_at)
    turn = _turns() * literal(TURN_BACK_S / TURN)
    return case((taken * TAKEN_BACK > turn, taken * TAKEN_BACK), else_=turn)


def _turns() -> ColumnElement[int]:
    return case((SubmissionRow.kind == JudgingReason.RUN, RUN_TURN), else_=TURN)


def _priority(at: Moments) -> ColumnElement[int]:
    """Waiting never raises it above the highest kind that people submit."""
    table, highest = SubmissionRow, PRIORITIES[JudgingReason.COMPETITION]
    student = table.priority > PRIORITIES[JudgingReason.REJUDGE]
    return case(
        (and_(student, table.priority < highest, table.created_at <= at.most_patient), highest),
        (and_(student, table.priority < highest, table.created_at <= at.patient), table.priority + _STEP),
        else_=table.priority,
    )


@dataclass(frozen=True)
class Waiting:
    id: int
    user: int
    priority: int
    due: float
    work: Work


def waiting(session: Session, device: str, now: datetime, compiled: bool = True) -> list[Waiting]:
    """Next one first. ``compiled`` false: uncompiled submissions come last, as claims skip them."""
    order, table = waiting_order([device], Moments.of(now)), SubmissionRow
    columns = (
        order.c.id,
        order.c.user_id,
        order.c.priority,
        order.c.due,
        table.challenge,
        table.language,
        table.kind,
    )
    query = select(*columns).join(table, table.id == order.c.id)
    if not compiled or queues.COMPILE in queues.pauses(session).rows:
        query = query.order_by(case((compilable(), 1), else_=0))
    found = session.execute(query.order_by(order.c.place))
    return [
        Waiting(id, user, priority, due, Work.of(challenge, language, kind))
        for id, user, priority, due, challenge, language, kind in found
    ]


def positions(session: Session, device: str, now: datetime, compiled: bool = True) -> dict[int, int]:
    return {one.id: place for place, one in enumerate(waiting(session, device, now, compiled), 1)}


def uncompiled(session: Session) -> int:
    return session.scalar(select(func.count()).where(compilable())) or 0


def pending_on(session: Session, device: str) -> int:
    """Not yet taken by a worker."""
    return session.scalar(select(func.count()).where(pending(), SubmissionRow.device == device)) or 0
