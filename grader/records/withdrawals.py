"""Entries that their authors took off the boards, with all judgements of the submission."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import or_, select, text, update
from sqlalchemy.orm import Session

from grader.records.models import SubmissionRow
from grader.records.models.indexes import RANKED


def is_on_a_board(session: Session, first: int) -> bool:
    """One of its judgements may rank, even if it is not its author's best."""
    table = SubmissionRow
    family = or_(table.id == first, table.rejudge_of == first)
    return session.scalar(select(table.id).where(family, text(RANKED)).limit(1)) is not None


def mark(session: Session, first: int, at: datetime | None) -> None:
    """All its judgements, also unfinished ones; None puts them back."""
    table = SubmissionRow
    session.execute(
        update(table)
        .where(or_(table.id == first, table.rejudge_of == first))
        .values(withdrawn_at=at)
        .execution_options(synchronize_session=False)
    )
