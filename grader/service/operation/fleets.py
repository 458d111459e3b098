"""Pools of pilots, as their controllers left them in the database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from grader.records import pilots
from grader.records.models import PilotState, PoolRow
from grader.schemas.fleet import PoolView
from grader.schemas.submission import Alert

# A pool that nobody has controlled for longer was given up.
_LATELY = timedelta(days=1)


def pools(session: Session, now: datetime) -> list[PoolView]:
    counts = pilots.counts(session)
    return [
        PoolView(
            name=row.name,
            device=row.device,
            controlled=row.controlled_until > now,
            controller=row.controller,
            decided_at=row.decided_at,
            waiting=row.waiting,
            wanted=row.wanted,
            pending=counts.get((row.name, PilotState.LAUNCHING), 0)
            + counts.get((row.name, PilotState.PENDING), 0),
            running=counts.get((row.name, PilotState.RUNNING), 0),
            spent=row.spent,
            note=row.note,
        )
        for row in pilots.pools(session)
        if row.controlled_until > now - _LATELY
    ]


def alerts(session: Session, now: datetime) -> Sequence[Alert]:
    return [alert for row in pilots.pools(session) if (alert := _alert(row, now)) is not None]


def _alert(row: PoolRow, now: datetime) -> Alert | None:
    if row.controlled_until <= now:
        if row.controlled_until <= now - _LATELY:
            return None
        return Alert(
            text=f"Nobody launches pilots for {row.device}: the controller {row.controller} is silent since "
            f"{row.controlled_until:%Y-%m-%d %H:%M} UTC.",
            hint="Start it again: grader fleet run FILE",
        )
    if not row.note:
        return None
    return Alert(text=f"The pool {row.name} launches no more pilots: {row.note}", hint="grader fleet status")
