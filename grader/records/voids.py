"""Voided everywhere, all judgements of a submission are set aside, and restored together."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from grader.records.models import CourseRow, CourseVoidRow, SubmissionRow, VoidRow
from grader.schemas.submission import SetAside


def of(session: Session, submissions: Collection[int]) -> dict[int, VoidRow]:
    if not submissions:
        return {}
    found = session.scalars(select(VoidRow).where(VoidRow.submission_id.in_(submissions)))
    return {row.submission_id: row for row in found}


def of_courses(session: Session, submissions: Collection[int]) -> dict[int, list[tuple[str, CourseVoidRow]]]:
    """Submission (id) -> slugs and voids."""
    found: dict[int, list[tuple[str, CourseVoidRow]]] = {}
    if not submissions:
        return found
    table = CourseVoidRow
    query = (
        select(CourseRow.slug, table)
        .join(CourseRow, CourseRow.id == table.course_id)
        .where(table.submission_id.in_(submissions))
        .order_by(CourseRow.id)
    )
    for slug, void in session.execute(query):
        found.setdefault(void.submission_id, []).append((slug, void))
    return found


def in_course(session: Session, course: int) -> dict[int, str]:
    table = CourseVoidRow
    query = select(table.submission_id, table.reason).where(table.course_id == course)
    return dict(session.execute(query).all())


def set_aside(session: Session, submission: int) -> None:
    _move(session, submission, None, SetAside.VOID)


def restore(session: Session, submission: int) -> None:
    _move(session, submission, SetAside.VOID, None)


def _move(session: Session, submission: int, before: SetAside | None, after: SetAside | None) -> None:
    table = SubmissionRow
    session.execute(
        update(table)
        .where(or_(table.id == submission, table.rejudge_of == submission))
        .where(table.set_aside.is_(None) if before is None else table.set_aside == before)
        .values(set_aside=after)
        .execution_options(synchronize_session=False)
    )
