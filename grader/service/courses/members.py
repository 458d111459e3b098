from __future__ import annotations

from sqlalchemy import select

from grader.errors import NotFound
from grader.records.models import CourseInvitationRow, MemberRow
from grader.schemas.course import CourseRole
from grader.service.accounts.accounts import find_row
from grader.service.courses.courses import OpenCourse


def sections_of(course: OpenCourse) -> list[str]:
    found: set[str] = set()
    for row in (MemberRow, CourseInvitationRow):
        found |= set(course.session.scalars(select(row.section).where(row.course_id == course.row.id)))
    return sorted(found - {""})


def groups_of(course: OpenCourse) -> list[str]:
    """Without people who have not joined."""
    query = select(MemberRow.group_name).where(
        MemberRow.course_id == course.row.id, MemberRow.left_at.is_(None)
    )
    return sorted(set(course.session.scalars(query)) - {""})


def student_of(course: OpenCourse, name: str) -> int:
    """Raises NotFound."""
    person = find_row(course.session, name)
    of_both = (
        MemberRow.course_id == course.row.id,
        MemberRow.user_id == person.id,
        MemberRow.left_at.is_(None),
    )
    if (
        course.session.scalar(
            select(MemberRow.id).where(*of_both, MemberRow.role == CourseRole.STUDENT.value)
        )
        is None
    ):
        raise NotFound(
            f"{person.name} is not a student in course {course.row.slug}.",
            "`grader roster show` lists its students.",
        )
    return person.id
