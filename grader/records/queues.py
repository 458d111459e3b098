"""A queue is named after its device; ``compile`` serves compilers for any device, ``all`` means all queues."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from grader.records.engine import changed
from grader.records.models import ChallengeKindRow, PauseRow
from grader.schemas.submission import JudgingReason

ALL = "all"
COMPILE = "compile"


@dataclass(frozen=True)
class Pauses:
    rows: Mapping[str, PauseRow]

    def of(self, queue: str) -> PauseRow | None:
        return self.rows.get(ALL) or self.rows.get(queue)


def pauses(session: Session) -> Pauses:
    return Pauses({row.queue: row for row in session.scalars(select(PauseRow))})


def pause(session: Session, queue: str, reason: str, by: str, now: datetime) -> None:
    """An existing pause keeps its beginning."""
    row = session.get(PauseRow, queue) or PauseRow(queue=queue, since=now)
    row.reason, row.by = reason, by
    session.add(row)


def resume(session: Session, queue: str) -> bool:
    """False if it was not paused."""
    return changed(session, delete(PauseRow).where(PauseRow.queue == queue)) == 1


def kind_of(session: Session, challenge: str) -> JudgingReason | None:
    return session.scalar(select(ChallengeKindRow.kind).where(ChallengeKindRow.challenge == challenge))


def set_kind(session: Session, challenge: str, kind: JudgingReason | None) -> None:
    """None: the kind of its track."""
    session.execute(delete(ChallengeKindRow).where(ChallengeKindRow.challenge == challenge))
    if kind is not None:
        session.add(ChallengeKindRow(challenge=challenge, kind=kind))
