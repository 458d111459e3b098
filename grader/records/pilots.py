"""Pilots of a fleet, and who may decide about a pool."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, delete, func, or_, select, update
from sqlalchemy.orm import Session

from grader.records.models import PilotRow, PilotState, PoolRow


def lead(session: Session, pool: str, device: str, controller: str, now: datetime, until: datetime) -> bool:
    """False while another controller decides about the pool."""
    row = session.get(PoolRow, pool)
    if row is None:
        row = PoolRow(name=pool, device=device, controller=controller, controlled_until=until)
        session.add(row)
        session.flush()
        return True
    if row.controller != controller and row.controlled_until > now:
        return False
    row.device, row.controller, row.controlled_until = device, controller, until
    return True


def release(session: Session, controller: str, now: datetime) -> None:
    session.execute(
        update(PoolRow)
        .where(PoolRow.controller == controller)
        .values(controlled_until=now)
        .execution_options(synchronize_session=False)
    )


def live(session: Session, pool: str) -> list[PilotRow]:
    """Oldest first."""
    table = PilotRow
    found = select(table).where(table.pool == pool, table.ended_at.is_(None)).order_by(table.id)
    return list(session.scalars(found))


def named(session: Session, names: Collection[str]) -> dict[str, PilotRow]:
    return {row.name: row for row in session.scalars(select(PilotRow).where(PilotRow.name.in_(names)))}


def seen(row: PilotRow, handle: str, running: bool, now: datetime) -> None:
    """By its provider: it lives, even if it was given up before."""
    row.handle, row.ended_at, row.error = handle, None, ""
    row.state = PilotState.RUNNING if running else PilotState.PENDING
    if running and row.began_at is None:
        row.began_at = now


def ended(row: PilotRow, now: datetime, error: str = "") -> None:
    row.state, row.ended_at, row.error = PilotState.ENDED, now, error


def launched(session: Session, name: str, handle: str) -> None:
    _set(session, name, handle=handle)


def failed(session: Session, name: str, error: str, now: datetime) -> None:
    _set(session, name, state=PilotState.ENDED, ended_at=now, error=error)


def spent(session: Session, pool: str, since: datetime, now: datetime) -> float:
    """Cost of what ran since then."""
    table = PilotRow
    rows = session.scalars(
        select(table).where(
            table.pool == pool,
            table.began_at.is_not(None),
            table.cost_per_hour > 0,
            or_(table.ended_at.is_(None), table.ended_at > since),
        )
    )
    return sum(
        max(timedelta(), (row.ended_at or now) - max(row.began_at or now, since)) / timedelta(hours=1)
        * row.cost_per_hour
        for row in rows
    )  # fmt: skip


def served(session: Session, now: datetime | ColumnElement[datetime]) -> set[str]:
    """Devices that a controller launches pilots for."""
    return set(session.scalars(select(PoolRow.device).where(PoolRow.controlled_until > now)))


def counts(session: Session) -> dict[tuple[str, PilotState], int]:
    """By pool and state."""
    table = PilotRow
    found = select(table.pool, table.state, func.count()).where(table.ended_at.is_(None))
    return {
        (pool, state): count
        for pool, state, count in session.execute(found.group_by(table.pool, table.state))
    }


def pools(session: Session) -> list[PoolRow]:
    return list(session.scalars(select(PoolRow).order_by(PoolRow.name)))


def forget(session: Session, before: datetime) -> None:
    session.execute(delete(PilotRow).where(PilotRow.ended_at < before))


def _set(session: Session, name: str, **values: object) -> None:
    statement = update(PilotRow).where(PilotRow.name == name).values(**values)
    session.execute(statement.execution_options(synchronize_session=False))
