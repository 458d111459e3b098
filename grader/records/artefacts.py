"""Compiled libraries by the hash of their input, so hosts need no shared file system. The least recently used
go first.

Nobody waits for a reservation: if its worker dies, the worker that runs the submission compiles. Writers call
these functions within ``writing``.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ColumnElement, delete, func, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from grader import limits
from grader.records.engine import changed
from grader.records.models import ArtefactRow
from grader.schemas.artefact import Artefact


def store(session: Session, artefact: Artefact, now: datetime) -> None:
    """An existing one stays."""
    values = {
        **artefact.model_dump(mode="json", exclude={"library"}),
        "library": artefact.library,
        "size": len(artefact.library),
        "created_at": now,
        "used_at": now,
    }
    session.execute(_insert_where_missing(session).values(values))
    _make_room(session)


def reserve(session: Session, key: str, user: int, now: datetime) -> bool:
    """False if ``key`` is already compiled or reserved."""
    values = {
        "key": key,
        "arch": "",
        "toolkit": "",
        "library": b"",
        "sha256": "",
        "size": 0,
        "log": "",
        "kernels": [],
        "user_id": user,
        "created_at": now,
        "used_at": now,
    }
    statement = _insert_where_missing(session).values(values).returning(ArtefactRow.key)
    return session.scalar(statement) is not None


def fill(session: Session, artefact: Artefact, now: datetime) -> bool:
    """False if the reservation is gone, perhaps with its author."""
    values = {
        **artefact.model_dump(mode="json", exclude={"key", "library"}),
        "library": artefact.library,
        "size": len(artefact.library),
        "used_at": now,
    }
    statement = (
        update(ArtefactRow).where(ArtefactRow.key == artefact.key, ArtefactRow.size == 0).values(values)
    )
    filled = changed(session, statement.execution_options(synchronize_session=False)) == 1
    _make_room(session)
    return filled


def release(session: Session, key: str) -> None:
    session.execute(delete(ArtefactRow).where(ArtefactRow.key == key, ArtefactRow.size == 0))


def forget(session: Session, key: str) -> None:
    session.execute(delete(ArtefactRow).where(ArtefactRow.key == key))


def known(session: Session, key: str) -> bool:
    return session.scalar(select(ArtefactRow.key).where(ArtefactRow.key == key)) is not None


def read(session: Session, key: str) -> Artefact | None:
    """None if it is missing, only reserved, or damaged."""
    row = session.get(ArtefactRow, key)
    if row is None or not row.size:
        return None
    found = Artefact.model_validate(
        {
            "key": row.key,
            "arch": row.arch,
            "toolkit": row.toolkit,
            "library": row.library,
            "sha256": row.sha256,
            "log": row.log,
            "kernels": row.kernels,
        }
    )
    return found if found.intact else None


def use(session: Session, key: str, now: datetime, toolkit: str | None = None) -> bool:
    """True if this version of the compiler (None: any) made it. It is then kept longer."""
    conditions: list[ColumnElement[bool]] = [ArtefactRow.key == key]
    if toolkit is not None:
        conditions.append(ArtefactRow.toolkit == toolkit)
    statement = update(ArtefactRow).where(*conditions).values(used_at=now)
    return changed(session, statement.execution_options(synchronize_session=False)) == 1


def _make_room(session: Session) -> None:
    total = session.scalar(select(func.sum(ArtefactRow.size))) or 0
    if total <= limits.ARTEFACT_STORE_BYTES:
        return
    oldest = select(ArtefactRow.key, ArtefactRow.size).order_by(ArtefactRow.used_at, ArtefactRow.key)
    gone = []
    for row in session.execute(oldest):
        if total <= limits.ARTEFACT_STORE_BYTES:
            break
        gone.append(row.key)
        total -= row.size
    session.execute(delete(ArtefactRow).where(ArtefactRow.key.in_(gone)))


def _insert_where_missing(session: Session) -> postgresql.Insert | sqlite.Insert:
    if session.get_bind().dialect.name == "postgresql":
        return postgresql.insert(ArtefactRow).on_conflict_do_nothing()
    return sqlite.insert(ArtefactRow).on_conflict_do_nothing()
