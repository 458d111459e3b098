"""What regrades are of, what they replace, and what they are replaced by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, case, func, select, update
from sqlalchemy.orm import Session, aliased, defer, joinedload

from grader.records import rejudges, versions
from grader.records.models import RegradeItemRow, RegradeRow, SubmissionRow, VersionRow, VoidRow
from grader.schemas.regrade import RegradeState
from grader.schemas.report import Verdict
from grader.schemas.submission import JudgingReason, SetAside, State

# Ids in one statement: both databases limit its parameters, SQLite to 32,766.
_IDS = 1_000


def handed_in(session: Session, *conditions: ColumnElement[bool]) -> Sequence[SubmissionRow]:
    """What was submitted and has a verdict, the oldest first, without what staff voided."""
    table = SubmissionRow
    return session.scalars(
        select(table)
        .where(table.rejudge_of.is_(None), table.kind != JudgingReason.RUN, table.state == State.DONE)
        .where(table.set_aside.is_distinct_from(SetAside.VOID), *conditions)
        .order_by(table.created_at, table.id)
    ).all()


def counted(session: Session, firsts: Sequence[SubmissionRow]) -> dict[int, SubmissionRow]:
    """Id of what was submitted -> the judgement of it that counts now: under the version that is shown, else under its
    own."""
    by_id = {it.id: it for it in firsts}
    found = dict(by_id)
    shown: dict[str, int | None] = {
        slug: versions.shown(session, slug) for slug in {it.challenge for it in firsts}
    }
    table = SubmissionRow
    for ids in _pieces(list(by_id)):
        again = session.scalars(
            select(table)
            .where(table.rejudge_of.in_(ids), table.kind == JudgingReason.REJUDGE, table.state == State.DONE)
            .where(rejudges.counting())
            .options(defer(table.source))
            .order_by(table.id)
        )
        for it in again:
            first = by_id[it.rejudge_of or 0]
            if it.version == shown[it.challenge] or (
                it.version == first.version and found[first.id] is first
            ):
                found[first.id] = it
    return found


def holding(session: Session, firsts: Collection[int]) -> dict[int, int]:
    """Id of what was submitted -> the open regrade that has it."""
    table = RegradeItemRow
    found: dict[int, int] = {}
    for ids in _pieces(list(firsts)):
        for it in session.execute(select(table.held_id, table.regrade_id).where(table.held_id.in_(ids))):
            found[it.held_id] = it.regrade_id
    return found


def open_like(session: Session, like: RegradeRow, version: int | None) -> RegradeRow | None:
    """The open regrade of the same, which nobody else decides of meanwhile; of a challenge under the same version."""
    table = RegradeRow
    same = [
        getattr(table, name).is_not_distinct_from(getattr(like, name))
        for name in ("scope", "course_id", "assignment_id", "user_id", "submission_id", "challenge")
    ]
    query = select(table).where(table.state == RegradeState.OPEN, *same)
    if version is not None:
        item = RegradeItemRow
        under = (
            select(item.id)
            .join(SubmissionRow, SubmissionRow.id == item.after_id)
            .where(item.regrade_id == table.id, SubmissionRow.version == version)
        )
        query = query.where(under.exists())
    return session.scalar(query.order_by(table.id.desc()).limit(1).with_for_update())


class Item(NamedTuple):
    item: RegradeItemRow
    first: SubmissionRow
    before: SubmissionRow
    after: SubmissionRow


def items(session: Session, regrade: int) -> list[Item]:
    """In the order in which they were handed in; sources stay where they are."""
    table = RegradeItemRow
    first, before, after = (aliased(SubmissionRow, name=name) for name in ("first", "earlier", "later"))
    found = session.execute(
        select(table, first, before, after)
        .join(first, first.id == table.first_id)
        .join(before, before.id == table.before_id)
        .join(after, after.id == table.after_id)
        .where(table.regrade_id == regrade)
        .options(joinedload(first.user), *(defer(it.source) for it in (first, before, after)))
        .order_by(first.created_at, first.id)
    )
    return [Item(*it) for it in found]


class Side(NamedTuple):
    """What of a judgement says whether another one is better. ``time_us`` in microseconds."""

    accepted: bool
    time_us: float | None
    speedup: float | None


def side_of(row: SubmissionRow) -> Side:
    return Side(row.verdict is Verdict.ACCEPTED, row.time_us, row.speedup)


class Compared(NamedTuple):
    """One submission of a regrade; ``state`` is that of the judgement ``after``."""

    regrade: int
    challenge: str
    device: str
    state: State
    before: Side
    after: Side


def compared(session: Session, numbers: Collection[int]) -> Iterator[Compared]:
    """All that these regrades compare, in no order: of many at once, and so of each no more than is needed."""
    if not numbers:
        return
    item = RegradeItemRow
    before, after = (aliased(SubmissionRow, name=name) for name in ("earlier", "later"))
    found = session.execute(
        select(
            *(item.regrade_id, after.challenge, after.device, after.state),
            *(case((before.verdict == Verdict.ACCEPTED, 1), else_=0), before.time_us, before.speedup),
            *(case((after.verdict == Verdict.ACCEPTED, 1), else_=0), after.time_us, after.speedup),
        )
        .join(before, before.id == item.before_id)
        .join(after, after.id == item.after_id)
        .where(item.regrade_id.in_(numbers))
    )
    for number, challenge, device, state, *sides in found:
        earlier, later = Side(bool(sides[0]), *sides[1:3]), Side(bool(sides[3]), *sides[4:])
        yield Compared(number, challenge, device, state, earlier, later)


def waiting(session: Session, numbers: Collection[int]) -> dict[int, Counter[str]]:
    """Regrade -> how many of it wait on each device."""
    table, item = SubmissionRow, RegradeItemRow
    found: dict[int, Counter[str]] = {number: Counter() for number in numbers}
    if not numbers:
        return found
    for it in session.execute(
        select(item.regrade_id, table.device, func.count().label("number"))
        .join(table, table.id == item.after_id)
        .where(item.regrade_id.in_(numbers), table.finished_at.is_(None))
        .group_by(item.regrade_id, table.device)
    ):
        found[it.regrade_id][it.device] = it.number
    return found


class Counts(NamedTuple):
    waiting: int
    failed: int


def counts(session: Session, regrade: int) -> Counts:
    table, item = SubmissionRow, RegradeItemRow
    found: dict[State, int] = {
        it.state: it.number
        for it in session.execute(
            select(table.state, func.count().label("number"))
            .join(item, item.after_id == table.id)
            .where(item.regrade_id == regrade)
            .group_by(table.state)
        )
    }
    failed = found.get(State.FAILED, 0) + found.get(State.CANCELLED, 0)
    return Counts(sum(found.values()) - found.get(State.DONE, 0) - failed, failed)


def publish(session: Session, regrade: RegradeRow) -> None:
    """What is judged counts from now on, in place of what counted under the same version."""
    after, item = aliased(SubmissionRow, name="later"), RegradeItemRow
    table = SubmissionRow
    mine = and_(item.after_id == after.id, item.regrade_id == regrade.id, after.state == State.DONE)
    other = (
        select(after.id)
        .join(item, mine)
        .where(
            func.coalesce(table.rejudge_of, table.id) == item.first_id,
            table.version == after.version,
            table.id != after.id,
        )
        .correlate(table)
        .exists()
    )
    # By what was handed in: without it the whole table would be looked through.
    firsts = select(item.first_id).where(item.regrade_id == regrade.id)
    for family in (table.id.in_(firsts), table.rejudge_of.in_(firsts)):
        replaced = update(table).where(family, rejudges.counting(), table.kind != JudgingReason.FINAL, other)
        _run(session, replaced.values(set_aside=SetAside.REPLACED))
    void = select(item.after_id).join(VoidRow, VoidRow.submission_id == item.first_id)
    done = (
        table.id.in_(select(item.after_id).where(item.regrade_id == regrade.id)),
        table.set_aside == SetAside.REGRADE,
        table.state == State.DONE,
    )
    _run(session, update(table).where(*done, table.id.in_(void)).values(set_aside=SetAside.VOID))
    _run(session, update(table).where(*done).values(set_aside=None))
    _release(session, regrade)


def discard(session: Session, regrade: RegradeRow) -> None:
    """Nothing of it counts, now or later."""
    table, item = SubmissionRow, RegradeItemRow
    mine = table.id.in_(select(item.after_id).where(item.regrade_id == regrade.id))
    _run(session, update(table).where(mine).values(set_aside=SetAside.REGRADE))
    _release(session, regrade)


def published_with(session: Session, challenge: str, version: int, by: int, now: datetime) -> None:
    """The regrades of a challenge that were ordered for a version which is shown from now on. What of them is not
    judged yet counts as soon as it is."""
    table, item = RegradeRow, RegradeItemRow
    under = (
        select(item.id)
        .join(SubmissionRow, SubmissionRow.id == item.after_id)
        .where(
            item.regrade_id == table.id, SubmissionRow.version == version, SubmissionRow.set_aside.is_(None)
        )
    )
    found = session.scalars(
        select(table).where(table.challenge == challenge, table.state == RegradeState.OPEN, under.exists())
    )
    for it in found:
        it.state, it.decided_by, it.decided_at = RegradeState.PUBLISHED, by, now
        _release(session, it)


def _release(session: Session, regrade: RegradeRow) -> None:
    session.flush()
    item = RegradeItemRow
    _run(session, update(item).where(item.regrade_id == regrade.id).values(held_id=None))


def _run(session: Session, statement: object) -> None:
    session.execute(statement.execution_options(synchronize_session=False))  # type: ignore[attr-defined]


class Published(NamedTuple):
    at: datetime | None
    reason: str


def published(session: Session, judgements: Collection[int]) -> dict[int, Published]:
    """Id of a judgement -> when and why the regrade that it is of was published."""
    table, item = RegradeRow, RegradeItemRow
    if not judgements:
        return {}
    found = session.execute(
        select(item.after_id, table.decided_at, table.reason)
        .join(table, table.id == item.regrade_id)
        .where(item.after_id.in_(judgements), table.state == RegradeState.PUBLISHED)
    )
    return {it.after_id: Published(it.decided_at, it.reason) for it in found}


def is_published(session: Session, challenge: str, version: int) -> bool:
    table = VersionRow
    query = select(table.id).where(table.challenge == challenge, table.version == version)
    return session.scalar(query.where(table.published_at.is_not(None))) is not None


def by_challenge(session: Session, numbers: Collection[int]) -> Mapping[int, dict[str, int]]:
    """Regrade -> challenge -> the version that it is judged under."""
    table, item = SubmissionRow, RegradeItemRow
    found: dict[int, dict[str, int]] = {}
    if not numbers:
        return found
    for it in session.execute(
        select(item.regrade_id, table.challenge, func.max(table.version).label("version"))
        .join(table, table.id == item.after_id)
        .where(item.regrade_id.in_(numbers))
        .group_by(item.regrade_id, table.challenge)
    ):
        found.setdefault(it.regrade_id, {})[it.challenge] = it.version
    return found


def _pieces(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(ids), _IDS):
        yield ids[start : start + _IDS]
