from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from grader.records.models import WorkerRow, WorkerTokenRow


def find(session: Session, sha256: str) -> WorkerTokenRow | None:
    return session.scalar(select(WorkerTokenRow).where(WorkerTokenRow.sha256 == sha256))


def named(session: Session, name: str) -> WorkerTokenRow | None:
    return session.scalar(select(WorkerTokenRow).where(WorkerTokenRow.name == name))


def everyone(session: Session) -> Sequence[WorkerTokenRow]:
    """By name, ended ones too."""
    return session.scalars(select(WorkerTokenRow).order_by(WorkerTokenRow.name)).all()


def any_since(session: Session, now: datetime) -> bool:
    """One that did not end before."""
    return (
        session.scalar(select(WorkerTokenRow.id).where(WorkerTokenRow.expires_at > now).limit(1)) is not None
    )


def note_use(session: Session, number: int, now: datetime) -> None:
    session.execute(update(WorkerTokenRow).where(WorkerTokenRow.id == number).values(last_used_at=now))


def remove(session: Session, number: int) -> None:
    """A later token may get its number."""
    at = {"synchronize_session": False}
    session.execute(
        update(WorkerRow).where(WorkerRow.token_id == number).values(token_id=None), execution_options=at
    )
    session.execute(delete(WorkerTokenRow).where(WorkerTokenRow.id == number), execution_options=at)
