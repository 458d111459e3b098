"""GPU seconds: what submissions used, and the budgets that limit them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, Row, and_, case, delete, func, or_, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import InstrumentedAttribute, Session

from grader.device_kinds import gpus_of
from grader.records.models import BudgetRow, GpuTimeRow, SubmissionRow, TokenRow
from grader.schemas.budget import Payer
from grader.schemas.submission import JudgingReason, State

_COLUMNS: dict[Payer, InstrumentedAttribute[int]] = {
    Payer.USER: GpuTimeRow.user_id,
    Payer.COURSE: GpuTimeRow.course_id,
    Payer.COMPETITION: GpuTimeRow.competition_id,
    Payer.TOKEN: GpuTimeRow.token_id,
}
# Compiling needs no GPU.
_ON_THE_GPU = (State.TESTING, State.TIMING)


class Account(NamedTuple):
    payer: Payer
    id: int


class Spent(NamedTuple):
    """GPU seconds."""

    day_s: float = 0.0
    total_s: float = 0.0


def day_of(moment: datetime) -> str:
    return moment.astimezone(UTC).date().isoformat()


# What ``charge`` reads of a submission.
CHARGED = (
    SubmissionRow.user_id,
    SubmissionRow.device,
    SubmissionRow.kind,
    SubmissionRow.state,
    SubmissionRow.claimed_at,
    SubmissionRow.lease_until,
    SubmissionRow.course_id,
    SubmissionRow.competition_id,
    SubmissionRow.token_id,
)


def charge(session: Session, ending: Row[*tuple[object, ...]], now: datetime) -> None:
    """``ending`` has at least ``CHARGED``, as they were before the end. Boards without a GPU and finals are free."""
    gpus = gpus_of(ending.device)
    if gpus is None or ending.state not in _ON_THE_GPU or ending.kind is JudgingReason.FINAL:
        return
    # Past its lease, its worker is gone: that time is not the author's.
    until = min(now, ending.lease_until or now)
    seconds = (until - ending.claimed_at).total_seconds() * gpus if ending.claimed_at else 0.0
    if seconds <= 0:  # clocks may disagree
        return
    values = {
        "user_id": ending.user_id,
        "day": day_of(now),
        "device": ending.device,
        "course_id": ending.course_id or 0,
        "competition_id": ending.competition_id or 0,
        "token_id": ending.token_id or 0,
    }
    dialect = postgresql if session.get_bind().dialect.name == "postgresql" else sqlite
    insert = dialect.insert(GpuTimeRow).values(**values, seconds=seconds)
    session.execute(
        insert.on_conflict_do_update(
            index_elements=list(values), set_={"seconds": GpuTimeRow.seconds + insert.excluded.seconds}
        )
    )


def budgets(session: Session, accounts: Iterable[Account]) -> dict[Account, BudgetRow]:
    row = BudgetRow
    wanted = [and_(row.payer == account.payer, row.payer_id == account.id) for account in accounts]
    return {
        Account(found.payer, found.payer_id): found
        for found in session.scalars(select(row).where(or_(*wanted)))
    }


def every_budget(session: Session) -> dict[Account, BudgetRow]:
    return {Account(row.payer, row.payer_id): row for row in session.scalars(select(BudgetRow))}


def put(session: Session, account: Account, day_s: float | None, total_s: float | None) -> None:
    """Both None: without a budget."""
    session.execute(
        delete(BudgetRow).where(BudgetRow.payer == account.payer, BudgetRow.payer_id == account.id)
    )
    if day_s is not None or total_s is not None:
        session.add(BudgetRow(payer=account.payer, payer_id=account.id, day_s=day_s, total_s=total_s))


def spent(session: Session, account: Account, now: datetime) -> Spent:
    found = session.execute(select(*_sums(now)).where(_COLUMNS[account.payer] == account.id)).one()
    return Spent(*found)


def spenders(session: Session, payer: Payer, now: datetime) -> dict[Account, Spent]:
    """Everyone of this kind who ever used a GPU."""
    column = _COLUMNS[payer]
    found = session.execute(select(column, *_sums(now)).where(column != 0).group_by(column))
    return {Account(payer, number): Spent(day_s, total_s) for number, day_s, total_s in found}


def days(session: Session, user: int, since: datetime) -> list[tuple[str, float]]:
    """Days of UTC with GPU seconds, oldest first."""
    row = GpuTimeRow
    found = session.execute(
        select(row.day, func.sum(row.seconds))
        .where(row.user_id == user, row.day >= day_of(since))
        .group_by(row.day)
        .order_by(row.day)
    )
    return [(day, seconds) for day, seconds in found]


def _sums(now: datetime) -> tuple[ColumnElement[float], ColumnElement[float]]:
    row = GpuTimeRow
    today = case((row.day == day_of(now), row.seconds), else_=0.0)
    return func.coalesce(func.sum(today), 0.0), func.coalesce(func.sum(row.seconds), 0.0)


def unused_token_id(session: Session) -> int | None:
    """SQLite gives a deleted token's id to the next one, which must not inherit its budget. None on PostgreSQL, which
    does not."""
    if session.get_bind().dialect.name == "postgresql":
        return None
    ids = (TokenRow.id, SubmissionRow.token_id, GpuTimeRow.token_id, BudgetRow.payer_id)
    return 1 + max(session.scalar(select(func.max(column))) or 0 for column in ids)
