from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, func, or_, select, update
from sqlalchemy.orm import Session

from grader.languages import Language
from grader.records.engine import changed
from grader.records.models import WorkerRow


@dataclass(frozen=True)
class Process:
    host: str
    pid: int


def register(
    session: Session,
    name: str,
    device: str,
    languages: Sequence[Language],
    now: datetime,
    gpu: str | None = None,
    compiles: bool = False,
    process: Process | None = None,
    token: int | None = None,
) -> None:
    """``device`` is empty if it only compiles, ``gpu`` is a UUID, ``process`` by default this one. ``token``: of a
    worker over HTTPS.

    A row of the same name stays out of service until ``back_in_service``, and drained until ``resume``.
    """
    row = session.scalar(select(WorkerRow).where(WorkerRow.name == name)) or WorkerRow(name=name)
    row.device = device
    row.languages = ",".join(languages)
    process = process or Process(socket.gethostname(), os.getpid())
    row.host, row.pid, row.token_id = process.host, process.pid, token
    row.gpu = gpu
    row.compiles = compiles
    row.started_at = row.heartbeat = now
    row.ended_at = None
    row.sandbox_fault = ""
    session.add(row)


def beat(session: Session, name: str, now: datetime, reading: dict[str, Any] | None = None) -> None:
    """A worker that was presumed dead is alive again."""
    _set(session, name, heartbeat=now, ended_at=None, reading=reading)


def leave(session: Session, name: str, now: datetime) -> None:
    _set(session, name, ended_at=now)


def set_sandbox_fault(session: Session, name: str, reason: str) -> None:
    _set(session, name, sandbox_fault=reason)


def without_sandboxes(session: Session, now: datetime, silent_s: float) -> list[WorkerRow]:
    return _serving(session, now, silent_s, WorkerRow.sandbox_fault != "")


def take_out_of_service(session: Session, name: str, gpu: str, reason: str) -> None:
    """Replaces an earlier worker's reason."""
    back_in_service(session, gpu)
    _set(session, name, out_of_service=reason)


def back_in_service(session: Session, gpu: str) -> None:
    statement = update(WorkerRow).where(WorkerRow.gpu == gpu).values(out_of_service="")
    session.execute(statement.execution_options(synchronize_session=False))


def out_of_service(session: Session) -> list[WorkerRow]:
    table = WorkerRow
    return list(
        session.scalars(select(table).where(table.out_of_service != "").order_by(table.host, table.name))
    )


def draining(session: Session, name: str) -> bool:
    table = WorkerRow
    return (
        session.scalar(select(table.id).where(table.name == name, table.drained_at.is_not(None))) is not None
    )


def drain(session: Session, name: str, now: datetime) -> bool:
    """False if there is no such worker. A drained worker keeps its time."""
    return _set(session, name, drained_at=func.coalesce(WorkerRow.drained_at, now)) == 1


def resume(session: Session, name: str) -> bool:
    return _set(session, name, drained_at=None) == 1


def everyone(session: Session, since: datetime) -> list[WorkerRow]:
    """Not ended, drained or out of service, or reported since then; by name."""
    table = WorkerRow
    # Only the worker of a GPU returns under its name.
    drained = and_(table.drained_at.is_not(None), table.gpu.is_not(None))
    worth = or_(table.ended_at.is_(None), drained, table.out_of_service != "", table.heartbeat >= since)
    return list(session.scalars(select(table).where(worth).order_by(table.name)))


def find(session: Session, name: str) -> WorkerRow | None:
    return session.scalar(select(WorkerRow).where(WorkerRow.name == name))


def of_token(session: Session, token: int) -> list[str]:
    return [*session.scalars(select(WorkerRow.name).where(WorkerRow.token_id == token))]


def claimed(session: Session, name: str, key: str) -> tuple[int, int] | None:
    """Id and attempt of what the request ``key`` claimed, if it was this worker's last claim."""
    table = WorkerRow
    found = session.execute(
        select(table.claim_id, table.claim_attempt).where(table.name == name, table.claim_key == key)
    ).one_or_none()
    return (found.claim_id, found.claim_attempt) if found and found.claim_id is not None else None


def note_claim(session: Session, name: str, key: str, submission: int, attempt: int) -> None:
    _set(session, name, claim_key=key, claim_id=submission, claim_attempt=attempt)


def last_seen(session: Session, *conditions: ColumnElement[bool]) -> datetime | None:
    return session.scalar(select(func.max(WorkerRow.heartbeat)).where(*conditions))


def _set(session: Session, name: str, **values: Any) -> int:
    statement = update(WorkerRow).where(WorkerRow.name == name).values(**values)
    return changed(session, statement.execution_options(synchronize_session=False))


def mark_dead(session: Session, now: datetime, silent_s: float) -> int:
    """Those silent for ``silent_s`` seconds; returns their number."""
    table = WorkerRow
    statement = (
        update(table)
        .where(table.ended_at.is_(None), table.heartbeat < now - timedelta(seconds=silent_s))
        .values(ended_at=now)
        .execution_options(synchronize_session=False)
    )
    return changed(session, statement)


def alive(session: Session, now: datetime | ColumnElement[datetime], silent_s: float) -> list[WorkerRow]:
    """They judge: with a recent heartbeat, and a GPU in service."""
    return _serving(session, now, silent_s, WorkerRow.device != "")


def serving(session: Session, device: str, now: datetime, silent_s: float) -> list[WorkerRow]:
    """They take submissions for ``device``."""
    return _serving(session, now, silent_s, WorkerRow.device == device, WorkerRow.drained_at.is_(None))


def compiling(session: Session, now: datetime, silent_s: float, drained: bool = False) -> list[WorkerRow]:
    """They serve the queue ``compile``, or staff ``drained`` them."""
    state = WorkerRow.drained_at.is_not(None) if drained else WorkerRow.drained_at.is_(None)
    return _serving(session, now, silent_s, WorkerRow.compiles.is_(True), state)


def _serving(
    session: Session,
    now: datetime | ColumnElement[datetime],
    silent_s: float,
    *conditions: ColumnElement[bool],
) -> list[WorkerRow]:
    table = WorkerRow
    fresh = table.heartbeat > now - timedelta(seconds=silent_s)
    serving = (table.ended_at.is_(None), table.out_of_service == "", fresh)
    return list(session.scalars(select(table).where(*serving, *conditions).order_by(table.name)))
