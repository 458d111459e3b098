"""Which queues are paused, and what kind submissions for a challenge are.

A queue is named by its device; ``compile`` is what is to be compiled for any device, ``all`` is everything.
"""

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
    """What is paused at one moment, by queue."""

    rows: Mapping[str, PauseRow]

    def of(self, queue: str) -> PauseRow | None:
        """Why nothing is taken from ``queue``; None where it is served."""
        return self.rows.get(ALL) or self.rows.get(queue)


def pauses(session: Session) -> Pauses:
    """A handful of rows at most: every claim reads them."""
    return Pauses({row.queue: row for row in session.scalars(select(PauseRow))})


def pause(session: Session, queue: str, reason: str, by: str, now: datetime) -> None:
    """Take nothing more from it. One that is paused stays so since when it was, with the new reason."""
    row = session.get(PauseRow, queue) or PauseRow(queue=queue, since=now)
    row.reason, row.by = reason, by
    session.add(row)


def resume(session: Session, queue: str) -> bool:
    """False where it was not paused."""
    return changed(session, delete(PauseRow).where(PauseRow.queue == queue)) == 1


def kind_of(session: Session, challenge: str) -> JudgingReason | None:
    """What staff said that submissions for ``challenge`` are; None where they said nothing."""
    return session.scalar(select(ChallengeKindRow.kind).where(ChallengeKindRow.challenge == challenge))


def set_kind(session: Session, challenge: str, kind: JudgingReason | None) -> None:
    """None: as its track says again."""
    session.execute(delete(ChallengeKindRow).where(ChallengeKindRow.challenge == challenge))
    if kind is not None:
        session.add(ChallengeKindRow(challenge=challenge, kind=kind))
