"""Periodic chores of one process. ``may_begin`` suffices if two may do it. A long chore ``is_due``, runs under a
``Lease``, then is ``done``: if its process dies, another continues after the lease."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, delete, insert, update
from sqlalchemy.exc import IntegrityError

from grader import limits
from grader.records.engine import changed, clock, writing
from grader.records.models import ChoreRow
from grader.service.platform import Platform


def may_begin(platform: Platform, name: str, every: timedelta, now: datetime) -> bool:
    """One UPDATE or INSERT decides."""
    before = now - every
    with platform.sessions() as session:
        known = session.get(ChoreRow, name)
    if known is not None and known.begun_at >= before:
        return False
    try:
        with writing(platform.sessions) as session:
            if known is None:
                session.execute(insert(ChoreRow).values(name=name, begun_at=now))
                return True
            due = ChoreRow.begun_at < before
            statement = update(ChoreRow).where(ChoreRow.name == name, due).values(begun_at=now)
            return changed(session, statement.execution_options(synchronize_session=False)) == 1
    except IntegrityError:  # another process was faster
        return False


def is_due(platform: Platform, name: str, every: timedelta) -> bool:
    with platform.sessions() as session:
        known = session.get(ChoreRow, name)
        return known is None or known.begun_at <= clock(session) - every


def done(platform: Platform, name: str) -> None:
    """Called by the lease's holder."""
    with writing(platform.sessions) as session:
        session.merge(ChoreRow(name=name, begun_at=clock(session)))


@dataclass
class Lease:
    """For ``limits.CHORE_LEASE_SECONDS`` by the database's clock. The row's time identifies the holder."""

    platform: Platform
    name: str
    since: datetime

    def renew(self) -> bool:
        """False: another process has it, stop."""
        with writing(self.platform.sessions) as session:
            now = clock(session)
            statement = update(ChoreRow).where(*self._own()).values(begun_at=now)
            if not changed(session, statement.execution_options(synchronize_session=False)):
                return False
        self.since = now
        return True

    def end(self) -> None:
        with writing(self.platform.sessions) as session:
            session.execute(delete(ChoreRow).where(*self._own()))

    def _own(self) -> tuple[ColumnElement[bool], ...]:
        return ChoreRow.name == _lease_of(self.name), ChoreRow.begun_at == self.since


def take(platform: Platform, name: str) -> Lease | None:
    """None if another process has it."""
    with platform.sessions() as session:
        now = clock(session)
    span = timedelta(seconds=limits.CHORE_LEASE_SECONDS)
    return Lease(platform, name, now) if may_begin(platform, _lease_of(name), span, now) else None


def _lease_of(name: str) -> str:
    return f"{name}.lease"
