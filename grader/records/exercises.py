"""Answers to the exercises of chapters. Each query names the user: nobody else reads them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.records.engine import clock
from grader.records.models import ExerciseAnswerRow, UserRow

# Answers that are kept of one exercise, the newest.
MOST_GIVEN = 20


def of_user(session: Session, user: int) -> Sequence[ExerciseAnswerRow]:
    return session.scalars(select(ExerciseAnswerRow).where(ExerciseAnswerRow.user_id == user)).all()


def of_chapter(session: Session, user: int, chapter: str) -> dict[str, ExerciseAnswerRow]:
    """By exercise."""
    table = ExerciseAnswerRow
    rows = session.scalars(select(table).where(table.user_id == user, table.chapter == chapter))
    return {row.exercise: row for row in rows}


def keep(session: Session, user: int, chapter: str, exercise: str, given: int, *, right: bool) -> None:
    """Store an answer. A right one stays right, whatever follows."""
    # Serialises the answers of a user: two windows may answer at once.
    session.execute(select(UserRow.id).where(UserRow.id == user).with_for_update())
    row = of_chapter(session, user, chapter).get(exercise)
    if row is None:
        row = ExerciseAnswerRow(user_id=user, chapter=chapter, exercise=exercise, given=[], is_right=False)
        session.add(row)
    if row.is_right:
        return
    row.given = [*row.given, given][-MOST_GIVEN:]
    row.is_right, row.updated_at = right, clock(session)
