"""Which workers there are, and which of them are alive."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from grader.records.engine import changed
from grader.records.models import WorkerRow
from grader.schemas.report import Language


def register(session: Session, name: str, device: str, languages: Sequence[Language], now: datetime) -> None:
    """Enter this process as a worker. A row of the same name (an earlier life) is taken over."""
    row = session.scalar(select(WorkerRow).where(WorkerRow.name == name)) or WorkerRow(name=name)
    row.device = device
    row.languages = ",".join(languages)
    row.host = socket.gethostname()
    row.pid = os.getpid()
    row.started_at = row.heartbeat = now
    row.ended_at = None
    session.add(row)


def beat(session: Session, name: str, now: datetime) -> None:
    """Say that the worker is alive; one that was given up for dead is alive again."""
    _set(session, name, heartbeat=now, ended_at=None)


def leave(session: Session, name: str, now: datetime) -> None:
    _set(session, name, ended_at=now)


def _set(session: Session, name: str, **values: datetime | None) -> None:
    statement = update(WorkerRow).where(WorkerRow.name == name).values(**values)
    session.execute(statement.execution_options(synchronize_session=False))


def mark_dead(session: Session, now: datetime, silent_s: float) -> int:
    """Mark workers that were silent for ``silent_s`` seconds; how many."""
    row = WorkerRow
    statement = (
        update(row)
        .where(row.ended_at.is_(None), row.heartbeat < now - timedelta(seconds=silent_s))
        .values(ended_at=now)
        .execution_options(synchronize_session=False)
    )
    return changed(session, statement)


def alive(session: Session, now: datetime, silent_s: float) -> list[WorkerRow]:
    row = WorkerRow
    fresh = row.heartbeat > now - timedelta(seconds=silent_s)
    return list(session.scalars(select(row).where(row.ended_at.is_(None), fresh).order_by(row.name)))
