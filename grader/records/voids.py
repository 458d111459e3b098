"""Results that staff voided: everywhere, or in one course. What is void everywhere is set aside with all judgements of
it, and comes back with them."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from grader.records.models import CourseRow, CourseVoidRow, SubmissionRow, VoidRow
from grader.schemas.submission import SetAside


def of(session: Session, submissions: Collection[int]) -> dict[int, VoidRow]:
    """By the id of what was submitted, what counts nowhere."""
    if not submissions:
        return {}
    found = session.scalars(select(VoidRow).where(VoidRow.submission_id.in_(submissions)))
    return {it.submission_id: it for it in found}


def of_courses(session: Session, submissions: Collection[int]) -> dict[int, list[tuple[str, CourseVoidRow]]]:
    """By the id of what was submitted, the courses (slugs) whose staff voided it."""
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
    for slug, it in session.execute(query):
        found.setdefault(it.submission_id, []).append((slug, it))
    return found


def in_course(session: Session, course: int) -> dict[int, str]:
    """Id of what its staff voided in a course -> why."""
    table = CourseVoidRow
    query = select(table.submission_id, table.reason).where(table.course_id == course)
    return dict(session.execute(query).all())


def set_aside(session: Session, submission: int) -> None:
    """Whatever counted of a submission does not any more."""
    _move(session, submission, None, SetAside.VOID)


def restore(session: Session, submission: int) -> None:
    """What counted before counts again."""
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
