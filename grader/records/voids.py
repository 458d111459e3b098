"""Results that staff voided. A submission and all judgements of it are set aside together, and come back together."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from grader.records.models import SubmissionRow, VoidRow
from grader.schemas.submission import SetAside


def of(session: Session, submissions: Collection[int]) -> dict[int, VoidRow]:
    """By the id of what was submitted."""
    if not submissions:
        return {}
    found = session.scalars(select(VoidRow).where(VoidRow.submission_id.in_(submissions)))
    return {it.submission_id: it for it in found}


def set_aside(session: Session, submission: int) -> None:
    """Whatever counted of a submission does not any more."""
    _move(session, submission, None, SetAside.VOID)


def restore(session: Session, submission: int) -> None:
    """What counted before counts again."""
    _move(session, submission, SetAside.VOID, None)


def _move(session: Session, submission: int, before: SetAside | None, after: SetAside | None) -> None:
    row = SubmissionRow
    session.execute(
        update(row)
        .where(or_(row.id == submission, row.rejudge_of == submission))
        .where(row.set_aside.is_(None) if before is None else row.set_aside == before)
        .values(set_aside=after)
        .execution_options(synchronize_session=False)
    )
