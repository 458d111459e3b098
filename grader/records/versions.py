from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.orm import Session

from grader.records.models import SubmissionRow, VersionRow
from grader.schemas.submission import JudgingReason, State


def find(session: Session, challenge: str, version: int, lock: bool = False) -> VersionRow | None:
    """``lock``: until this transaction ends."""
    wanted = select(VersionRow).where(VersionRow.challenge == challenge, VersionRow.version == version)
    if lock:
        wanted = wanted.with_for_update().execution_options(populate_existing=True)
    return session.scalar(wanted)


def history(session: Session, challenge: str) -> Sequence[VersionRow]:
    return session.scalars(
        select(VersionRow).where(VersionRow.challenge == challenge).order_by(VersionRow.version)
    ).all()


def shown(session: Session, challenge: str) -> int | None:
    """Published last."""
    return shown_versions(session, VersionRow.challenge == challenge).get(challenge)


def shown_versions(session: Session, *conditions: ColumnElement[bool]) -> dict[str, int]:
    table = VersionRow
    latest = func.row_number().over(
        partition_by=table.challenge, order_by=(table.published_at.desc(), table.version.desc())
    )
    ordered = (
        select(table.challenge, table.version, latest.label("place"))
        .where(table.published_at.is_not(None), *conditions)
        .subquery()
    )
    found = session.execute(select(ordered.c.challenge, ordered.c.version).where(ordered.c.place == 1))
    return {row.challenge: row.version for row in found}


def drafts(session: Session) -> list[VersionRow]:
    """Unpublished, unless a later one is already shown."""
    published = shown_versions(session)
    rows = session.scalars(
        select(VersionRow)
        .where(VersionRow.published_at.is_(None))
        .order_by(VersionRow.challenge, VersionRow.version)
    )
    return [row for row in rows if row.version > published.get(row.challenge, 0)]


def judged(session: Session, challenge: str, version: int) -> bool:
    """Has a verdict. Runs do not count."""
    table = SubmissionRow
    found = session.scalar(
        select(table.id)
        .where(table.challenge == challenge, table.version == version, table.state == State.DONE)
        .where(table.kind != JudgingReason.RUN)
        .limit(1)
    )
    return found is not None


def publish(session: Session, challenge: str, version: int, now: datetime) -> None:
    session.execute(
        update(VersionRow)
        .where(VersionRow.challenge == challenge, VersionRow.version == version)
        .values(published_at=now)
        .execution_options(synchronize_session=False)
    )
