from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session, undefer

from grader.records.engine import changed
from grader.records.models import UploadRow
from grader.schemas.upload import CheckState


def find(session: Session, challenge: str, number: int, whole: bool = False) -> UploadRow | None:
    """``whole``: with archive and result."""
    query = select(UploadRow).where(UploadRow.challenge == challenge, UploadRow.number == number)
    return session.scalar(query.options(undefer("*")) if whole else query)


def of_challenge(session: Session, challenge: str | None = None) -> Sequence[UploadRow]:
    """Newest first; None: of every challenge."""
    query = select(UploadRow).order_by(UploadRow.id.desc())
    return session.scalars(
        query if challenge is None else query.where(UploadRow.challenge == challenge)
    ).all()


def by_challenge(session: Session, challenges: Collection[str]) -> dict[str, list[UploadRow]]:
    """Oldest first, without archives."""
    table = UploadRow
    found: dict[str, list[UploadRow]] = {}
    wanted = select(table).where(table.challenge.in_(challenges)).order_by(table.challenge, table.number)
    for row in session.scalars(wanted):
        found.setdefault(row.challenge, []).append(row)
    return found


def newest(session: Session, challenge: str) -> UploadRow | None:
    query = (
        select(UploadRow).where(UploadRow.challenge == challenge).order_by(UploadRow.number.desc()).limit(1)
    )
    return session.scalar(query.options(undefer("*")))


def of_digest(session: Session, challenge: str, digest: str) -> UploadRow | None:
    table = UploadRow
    found = select(table).where(table.challenge == challenge, table.digest == digest)
    return session.scalar(found.order_by(table.number.desc()).limit(1))


def next_number(session: Session, challenge: str) -> int:
    found = session.scalar(select(func.max(UploadRow.number)).where(UploadRow.challenge == challenge))
    return (found or 0) + 1


def in_use(session: Session, challenge: str) -> UploadRow | None:
    return session.scalar(
        select(UploadRow).where(UploadRow.challenge == challenge, UploadRow.in_use).options(undefer("*"))
    )


def all_in_use(session: Session) -> list[tuple[str, int, str]]:
    table = UploadRow
    return [(row.challenge, row.id, row.digest) for row in session.execute(
        select(table.challenge, table.id, table.digest).where(table.in_use).order_by(table.challenge)
    )]  # fmt: skip


def use(session: Session, challenge: str, number: int | None, now: datetime) -> None:
    """None: serve no upload of the challenge."""
    table = UploadRow
    at = {"synchronize_session": False}
    session.execute(
        update(table).where(table.challenge == challenge, table.in_use).values(in_use=False),
        execution_options=at,
    )
    if number is not None:
        session.execute(
            update(table)
            .where(table.challenge == challenge, table.number == number)
            .values(in_use=True, used_at=now),
            execution_options=at,
        )


def waiting(session: Session, now: datetime) -> int:
    """Includes checks whose worker is gone."""
    return session.scalar(select(func.count()).select_from(UploadRow).where(_free(now))) or 0


def _free(now: datetime) -> Any:
    table = UploadRow
    lost = (table.check_state == CheckState.RUNNING) & (table.check_lease <= now)
    return (table.check_state == CheckState.WAITING) | lost


def claim(session: Session, worker: str, now: datetime, lease_s: float) -> UploadRow | None:
    """The oldest one. Call it within ``writing``."""
    row = session.scalar(
        select(UploadRow)
        .where(_free(now))
        .order_by(UploadRow.id)
        .limit(1)
        .with_for_update(skip_locked=True)
        .options(undefer("*"))
    )
    if row is None:
        return None
    row.check_state = CheckState.RUNNING
    row.check_attempt += 1
    row.check_worker = worker
    row.check_lease = now + timedelta(seconds=lease_s)
    row.check_began_at, row.check_ended_at = now, None
    row.check_progress, row.check_error = None, ""
    return row


def keep(session: Session, held: UploadRow, until: datetime, **values: Any) -> bool:
    table = UploadRow
    statement = (
        update(table)
        .where(table.id == held.id, table.check_attempt == held.check_attempt)
        .where(table.check_state == CheckState.RUNNING)
        .values(check_lease=until, **values)
        .execution_options(synchronize_session=False)
    )
    return changed(session, statement) == 1


def finish(session: Session, held: UploadRow, state: CheckState, now: datetime, **values: Any) -> bool:
    ended = {"check_state": state, "check_ended_at": now, "check_lease": None}
    table = UploadRow
    statement = (
        update(table)
        .where(table.id == held.id, table.check_attempt == held.check_attempt)
        .where(table.check_state == CheckState.RUNNING)
        .values(**ended, **values)
        .execution_options(synchronize_session=False)
    )
    return changed(session, statement) == 1


def order_check(session: Session, row: UploadRow) -> None:
    row.check_state, row.check_attempt = CheckState.WAITING, row.check_attempt + 1
    row.check_worker = row.check_lease = row.check_progress = row.check_result = None
    row.check_began_at = row.check_ended_at = None
    row.check_error = ""
