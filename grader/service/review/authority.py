"""A submission's courses, and who decides about it: their staff, else the platform's."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.records import taught
from grader.records.models import CourseRow, MemberRow, SubmissionRow
from grader.service.accounts.accounts import User
from grader.service.courses import permissions
from grader.service.courses.permissions import Action


def courses_of(session: Session, row: SubmissionRow) -> Sequence[CourseRow]:
    """None for competitions and practice."""
    return session.scalars(
        select(CourseRow)
        .join(MemberRow, MemberRow.course_id == CourseRow.id)
        .where(SubmissionRow.id == row.id, *taught.handed_in())
        .distinct()
        .order_by(CourseRow.id)
    ).all()


def check(
    session: Session, user: User, row: SubmissionRow, action: Action, elsewhere: Action
) -> CourseRow | None:
    """None if there is none and they may do ``elsewhere``. Raises NotAllowed."""
    found = courses_of(session, row)
    for course in found:
        if permissions.may(permissions.standings(session, user, course.id), action):
            return course
    if found:
        permissions.check(user, permissions.standings(session, user, found[0].id), action)
    permissions.check(user, permissions.standings(session, user), elsewhere)
    return None
