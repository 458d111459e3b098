"""Chores that one process of all does now and then."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import insert, update
from sqlalchemy.exc import IntegrityError

from grader.records.engine import changed, writing
from grader.records.models import ChoreRow
from grader.service.platform import Platform


def may_begin(platform: Platform, name: str, every: timedelta, now: datetime) -> bool:
    """Whether this process is the one that does it: decided by one UPDATE or INSERT."""
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
    except IntegrityError:  # another one was quicker
        return False
