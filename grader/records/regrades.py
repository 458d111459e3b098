from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, and_, case, false, func, select, true, update
from sqlalchemy.orm import Session, aliased, defer, joinedload

from grader.records import rejudges, versions
from grader.records.models import RegradeItemRow, RegradeRow, SubmissionRow, VersionRow, VoidRow
from grader.schemas.regrade import RegradeState
from grader.schemas.report import Verdict
from grader.schemas.submission import JudgingReason, SetAside, State

_IDS = 1_000


def handed_in(session: Session, *conditions: ColumnElement[bool]) -> Sequence[SubmissionRow]:
    """With a verdict, oldest first, without voided ones."""
    table = SubmissionRow
    return session.scalars(
        select(table)
        .where(table.rejudge_of.is_(None), table.kind != JudgingReason.RUN, table.state == State.DONE)
        .where(table.set_aside.is_distinct_from(SetAside.VOID), *conditions)
        .order_by(table.created_at, table.id)
    ).all()


def counted(session: Session, firsts: Sequence[SubmissionRow]) -> dict[int, SubmissionRow]:
    """Submission (id) -> the judgement that counts."""
    by_id = {first.id: first for first in firsts}
    found = dict(by_id)
    shown: dict[str, int | None] = {
        slug: versions.shown(session, slug) for slug in {first.challenge for first in firsts}
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
        for judgement in again:
            first = by_id[judgement.rejudge_of or 0]
            if judgement.version == shown[judgement.challenge] or (
                judgement.version == first.version and found[first.id] is first
            ):
                found[first.id] = judgement
    return found


def holding(session: Session, firsts: Collection[int]) -> dict[int, int]:
    """Submission (id) -> its open regrade."""
    table = RegradeItemRow
    found: dict[int, int] = {}
    for ids in _pieces(list(firsts)):
        for row in session.execute(select(table.held_id, table.regrade_id).where(table.held_id.in_(ids))):
            found[row.held_id] = row.regrade_id
    return found


def open_like(session: Session, like: RegradeRow, version: int | None) -> RegradeRow | None:
    """Of the same scope, for a challenge also under the same version. Locked."""
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
    """In the order received, without sources."""
    table = RegradeItemRow
    first, before, after = (aliased(SubmissionRow, name=name) for name in ("first", "earlier", "later"))
    found = session.execute(
        select(table, first, before, after)
        .join(first, first.id == table.first_id)
        .join(before, before.id == table.before_id)
        .join(after, after.id == table.after_id)
        .where(table.regrade_id == regrade)
        .options(joinedload(first.user), *(defer(side.source) for side in (first, before, after)))
        .order_by(first.created_at, first.id)
    )
    return [Item(*row) for row in found]


class Side(NamedTuple):
    """``time_us`` in microseconds."""

    accepted: bool
    time_us: float | None
    speedup: float | None
    credit: float | None


def side_of(row: SubmissionRow) -> Side:
    return Side(row.verdict is Verdict.ACCEPTED, row.time_us, row.speedup, row.credit)


class Compared(NamedTuple):
    regrade: int
    challenge: str
    device: str
    state: State
    before: Side
    after: Side


def compared(session: Session, numbers: Collection[int]) -> Iterator[Compared]:
    if not numbers:
        return
    item = RegradeItemRow
    before, after = (aliased(SubmissionRow, name=name) for name in ("earlier", "later"))
    found = session.execute(
        select(
            *(item.regrade_id, after.challenge, after.device, after.state),
            *_side(before),
            *_side(after),
        )
        .join(before, before.id == item.before_id)
        .join(after, after.id == item.after_id)
        .where(item.regrade_id.in_(numbers))
    )
    for number, challenge, device, state, *sides in found:
        half = len(Side._fields)
        earlier, later = Side._make(sides[:half]), Side._make(sides[half:])
        yield Compared(number, challenge, device, state, earlier, later)


def _side(row: Any) -> tuple[Any, ...]:
    accepted = case((row.verdict == Verdict.ACCEPTED, true()), else_=false())
    return accepted, row.time_us, row.speedup, row.credit


def waiting(session: Session, numbers: Collection[int]) -> dict[int, Counter[str]]:
    table, item = SubmissionRow, RegradeItemRow
    found: dict[int, Counter[str]] = {number: Counter() for number in numbers}
    if not numbers:
        return found
    for row in session.execute(
        select(item.regrade_id, table.device, func.count().label("number"))
        .join(table, table.id == item.after_id)
        .where(item.regrade_id.in_(numbers), table.finished_at.is_(None))
        .group_by(item.regrade_id, table.device)
    ):
        found[row.regrade_id][row.device] = row.number
    return found


class Counts(NamedTuple):
    waiting: int
    failed: int


def counts(session: Session, regrade: int) -> Counts:
    table, item = SubmissionRow, RegradeItemRow
    found: dict[State, int] = {
        row.state: row.number
        for row in session.execute(
            select(table.state, func.count().label("number"))
            .join(item, item.after_id == table.id)
            .where(item.regrade_id == regrade)
            .group_by(table.state)
        )
    }
    failed = found.get(State.FAILED, 0) + found.get(State.CANCELLED, 0)
    return Counts(sum(found.values()) - found.get(State.DONE, 0) - failed, failed)


def publish(session: Session, regrade: RegradeRow) -> None:
    """Finished judgements count from now on."""
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
    # Otherwise this reads the whole table.
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
    table, item = SubmissionRow, RegradeItemRow
    mine = table.id.in_(select(item.after_id).where(item.regrade_id == regrade.id))
    _run(session, update(table).where(mine).values(set_aside=SetAside.REGRADE))
    _release(session, regrade)


def published_with(session: Session, challenge: str, version: int, by: int, now: datetime) -> None:
    """Those for a version which is now shown. Unfinished judgements count once done."""
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
    for regrade in found:
        regrade.state, regrade.decided_by, regrade.decided_at = RegradeState.PUBLISHED, by, now
        _release(session, regrade)


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
    table, item = RegradeRow, RegradeItemRow
    if not judgements:
        return {}
    found = session.execute(
        select(item.after_id, table.decided_at, table.reason)
        .join(table, table.id == item.regrade_id)
        .where(item.after_id.in_(judgements), table.state == RegradeState.PUBLISHED)
    )
    return {row.after_id: Published(row.decided_at, row.reason) for row in found}


def is_published(session: Session, challenge: str, version: int) -> bool:
    table = VersionRow
    query = select(table.id).where(table.challenge == challenge, table.version == version)
    return session.scalar(query.where(table.published_at.is_not(None))) is not None


def by_challenge(session: Session, numbers: Collection[int]) -> Mapping[int, dict[str, int]]:
    table, item = SubmissionRow, RegradeItemRow
    found: dict[int, dict[str, int]] = {}
    if not numbers:
        return found
    for row in session.execute(
        select(item.regrade_id, table.challenge, func.max(table.version).label("version"))
        .join(table, table.id == item.after_id)
        .where(item.regrade_id.in_(numbers))
        .group_by(item.regrade_id, table.challenge)
    ):
        found.setdefault(row.regrade_id, {})[row.challenge] = row.version
    return found


def _pieces(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(ids), _IDS):
        yield ids[start : start + _IDS]
