"""The caller checks that only the author reads a note."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from grader.records.engine import clock
from grader.records.models import NoteRow


def of(session: Session, submissions: Collection[int]) -> dict[int, str]:
    if not submissions:
        return {}
    table = NoteRow
    query = select(table.submission_id, table.text).where(table.submission_id.in_(submissions))
    return dict(session.execute(query).all())


def keep(session: Session, submission: int, text: str) -> None:
    """Empty removes it. The caller locks the submission's row."""
    table = NoteRow
    if not text:
        session.execute(delete(table).where(table.submission_id == submission))
        return
    row, now = session.get(table, submission), clock(session)
    if row is None:
        row = table(submission_id=submission)
        session.add(row)
    row.text, row.updated_at = text, now
