"""Which submissions are a course's: what its students hand in for what it assigns.

A draft assigns nothing, what was handed in within a competition is no course's, and what somebody hands in after they
left is not that course's any more.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, or_

from grader.records.models import AssignmentPartRow, AssignmentRow, MemberRow, SubmissionRow
from grader.schemas.course import CourseRole


def handed_in(member: Any = MemberRow) -> list[ColumnElement[bool]]:
    """Conditions over submissions, members, assignments and their parts together: the member is the student who handed
    the submission in, and an assignment of the course has its challenge."""
    row, assignment, part = SubmissionRow, AssignmentRow, AssignmentPartRow
    return [
        member.user_id == row.user_id,
        member.role == CourseRole.STUDENT.value,
        or_(member.left_at.is_(None), row.created_at <= member.left_at),
        assignment.course_id == member.course_id,
        assignment.published_at.is_not(None),
        part.assignment_id == assignment.id,
        part.challenge == row.challenge,
        row.competition_id.is_(None),
    ]
