from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.orm import Session

from grader import limits
from grader.records.engine import changed
from grader.records.models import CatalogueSourceRow
from grader.schemas.upload import SyncState


def find(session: Session, course: int, lock: bool = False) -> CatalogueSourceRow | None:
    return session.get(CatalogueSourceRow, course, with_for_update=lock, populate_existing=lock)


def of_hook(session: Session, sha256: str) -> CatalogueSourceRow | None:
    return session.scalar(
        select(CatalogueSourceRow).where(CatalogueSourceRow.hook_sha256 == sha256).with_for_update()
    )


def order(row: CatalogueSourceRow, by: int | None, now: datetime) -> None:
    """The result of a fetch in progress is dropped."""
    row.state, row.asked_at, row.asked_by = SyncState.WAITING, now, by
    row.attempt, row.lease = row.attempt + 1, None


def _free(now: datetime) -> ColumnElement[bool]:
    table = CatalogueSourceRow
    lost = (table.state == SyncState.FETCHING) & (table.lease <= now)
    return (table.state == SyncState.WAITING) | lost


def waiting(session: Session, now: datetime) -> int:
    return session.scalar(select(func.count()).select_from(CatalogueSourceRow).where(_free(now))) or 0


def claim(session: Session, now: datetime) -> CatalogueSourceRow | None:
    """Call it within ``writing``."""
    table = CatalogueSourceRow
    row = session.scalar(
        select(table).where(_free(now)).order_by(table.asked_at).limit(1).with_for_update(skip_locked=True)
    )
    if row is not None:
        row.state, row.attempt = SyncState.FETCHING, row.attempt + 1
        row.lease = now + timedelta(seconds=limits.GIT_LEASE_SECONDS)
    return row


def settle(session: Session, held: CatalogueSourceRow, state: SyncState, **values: object) -> bool:
    """False if the claim was lost, or somebody ordered another fetch."""
    table = CatalogueSourceRow
    statement = (
        update(table)
        .where(table.course_id == held.course_id, table.attempt == held.attempt, table.state == held.state)
        .values(state=state, lease=None, **values)
        .execution_options(synchronize_session=False)
    )
    return changed(session, statement) == 1


def being_checked(session: Session) -> Sequence[CatalogueSourceRow]:
    query = select(CatalogueSourceRow).where(CatalogueSourceRow.state == SyncState.CHECKING)
    return session.scalars(query).all()
