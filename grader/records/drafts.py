"""Each query names the user: nobody else may see a draft."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, delete, select
from sqlalchemy.orm import Session

from grader.languages import Language
from grader.records.engine import changed, clock
from grader.records.models import DraftRow, UserRow


@dataclass(frozen=True)
class DraftKey:
    user: int
    challenge: str
    language: Language

    def conditions(self) -> tuple[ColumnElement[bool], ...]:
        table = DraftRow
        return (
            table.user_id == self.user,
            table.challenge == self.challenge,
            table.language == self.language,
        )


def read(session: Session, place: DraftKey) -> DraftRow | None:
    return session.scalar(select(DraftRow).where(*place.conditions()))


def of_challenge(session: Session, user: int, challenge: str) -> Sequence[DraftRow]:
    table = DraftRow
    return session.scalars(select(table).where(table.user_id == user, table.challenge == challenge)).all()


def lock(session: Session, user: int) -> None:
    """Nothing races with the check of ``based_on``."""
    session.execute(select(UserRow.id).where(UserRow.id == user).with_for_update())


def keep(session: Session, place: DraftKey, source: str) -> DraftRow:
    """Take ``lock`` first."""
    row, now = read(session, place), clock(session)
    if row is None:
        row = DraftRow(user_id=place.user, challenge=place.challenge, language=place.language)
        session.add(row)
    row.source, row.updated_at = source, now
    session.flush()
    return row


def remove(session: Session, place: DraftKey) -> bool:
    return changed(session, delete(DraftRow).where(*place.conditions())) > 0
