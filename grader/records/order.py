"""Who is served next: one ordering, used by the claims and by the position that a student sees."""

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
TURN, RUN_TURN = 4, 1
RUN_AHEAD = 2 * TURN
# Each turn that its author had within the last hour puts a submission back by so many seconds, as if it were sent that
# much later, or by so many times what it took where that is more: one endless loop costs what many kernels do. Places
# are not given by turns alone: then everyone's next one would be overtaken by all who have had fewer, for as long as
# these come, and nobody could be told how long that will be.
TURN_BACK_S = 20.0
TAKEN_BACK = 4.0
# Who has had so many lets all others go first: nobody's first waits behind somebody's fifth.
_MANY = 4 * TURN
MANY_BACK_S = 900.0

# Fairness forgets after this long: who worked hard this morning is not last all day.
LATELY = timedelta(hours=1)


def _compiled() -> ColumnElement[bool]:
    """Whether its language needs compiling."""
    return SubmissionRow.language.in_([it for it in Language if it.compiled])


def compilable() -> ColumnElement[bool]:
    """What the queue ``compile`` serves."""
    return and_(SubmissionRow.state == State.QUEUED, _compiled())


def runnable() -> ColumnElement[bool]:
    """What the queue of a device serves: what is compiled, and what needs no compiling ahead."""
    table = SubmissionRow
    # All states in one condition, here and below: an index can be searched for that, not for what is within OR.
    return and_(table.state.in_(FREE), or_(table.state == State.WAITING, not_(_compiled())))


def pending() -> ColumnElement[bool]:
    """What a device has yet to run. While it is compiled it keeps its place."""
    table = SubmissionRow
    free = table.state != State.COMPILING
    return and_(table.state.in_((*FREE, State.COMPILING)), or_(free, _compiled()))


def is_pending(row: SubmissionRow) -> bool:
    """The same of one row."""
    return row.state in FREE or (row.state is State.COMPILING and row.language.compiled)


Moment = datetime | ColumnElement[datetime]


@dataclass(frozen=True)
class Moments:
    """The times that ``waiting_order`` compares with."""

    now: Moment
    lately: Moment
    patient: Moment
    most_patient: Moment

    @classmethod
    def of(cls, now: datetime) -> Moments:
        return cls(now, now - LATELY, now - PATIENCE, now - 2 * PATIENCE)

    @classmethod
    def parameters(cls) -> Moments:
        """For a statement that is made once, and executed with ``values``: making it takes longer than most else that a
        claim does, and claims hold SQLite's lock."""
        return cls(*(bindparam(it.name, type_=UtcDateTime) for it in fields(cls)))

    @property
    def values(self) -> dict[str, Moment]:
        return {it.name: getattr(self, it.name) for it in fields(self)}


def waiting_order(devices: Iterable[str], at: Moments) -> CTE:
    """What is pending on ``devices``, together, with its ``place`` (1 = next), and as ``busy`` (0 or 1) whether one of
    its author's is judged there now.

    By priority (with what it gained by waiting), then by ``due``: the time that it was sent at (seconds since 1970),
    put back by what its user was served lately and by the user's own submissions ahead of it. A user's own runs go
    first, and a run is ahead by some turns. A claim takes the first that it can serve, and of the same priority what is
    not ``busy`` before what is: until a judgement has taken long, nothing but this keeps its author from holding a
    second worker that others wait for.
    """
    table, on = SubmissionRow, list(devices)
    # A sum, which no index of users is sorted by: one by time reads the last hour's, one by user reads all there are.
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
        # What is pending counts among the user's own ahead, not once more among what was served.
        # What staff have judged again is not charged to its author at all.
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
            # A final has an order of its own, by the times that its rows are given.
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
    """Whether its author had it judged: not staff, who judge again, and no final."""
    table = SubmissionRow
    return and_(func.coalesce(table.rejudge_of, 0) == 0, table.kind != JudgingReason.FINAL)


def far_back(had: ColumnElement[int]) -> ColumnElement[float]:
    """Seconds more for who has had many turns."""
    return case((had >= _MANY, MANY_BACK_S), else_=0.0)


def _taken_back(now: Moment) -> ColumnElement[float]:
    """By how many seconds one that was claimed puts its author's next one back."""
    table = SubmissionRow
    taken = Seconds(func.coalesce(table.finished_at, now)) - Seconds(table.claimed_at)
    turn = _turns() * literal(TURN_BACK_S / TURN)
    return case((taken * TAKEN_BACK > turn, taken * TAKEN_BACK), else_=turn)


def _turns() -> ColumnElement[int]:
    """How much of its user's turns one row uses up."""
    return case((SubmissionRow.kind == JudgingReason.RUN, RUN_TURN), else_=TURN)


def _priority(at: Moments) -> ColumnElement[int]:
    """That of its kind, higher after long waiting, and never above the highest kind that people hand in."""
    table, highest = SubmissionRow, PRIORITIES[JudgingReason.COMPETITION]
    student = table.priority > PRIORITIES[JudgingReason.REJUDGE]
    return case(
        (and_(student, table.priority < highest, table.created_at <= at.most_patient), highest),
        (and_(student, table.priority < highest, table.created_at <= at.patient), table.priority + _STEP),
        else_=table.priority,
    )


@dataclass(frozen=True)
class Waiting:
    """One that waits, as ``waiting_order`` has it."""

    id: int
    user: int
    priority: int
    due: float
    work: Work


def waiting(session: Session, device: str, now: datetime, compiled: bool = True) -> list[Waiting]:
    """Everything that waits for ``device``, the next one first.

    While the queue ``compile`` is paused or nobody serves it (``compiled`` false), what is to be compiled stands behind
    what is not: claims pass it over.
    """
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
    """Row id -> place for the same."""
    return {it.id: place for place, it in enumerate(waiting(session, device, now, compiled), 1)}


def uncompiled(session: Session) -> int:
    """How many submissions wait to be compiled."""
    return session.scalar(select(func.count()).where(compilable())) or 0
