"""What students may read only later."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.records import competitions, taught
from grader.records.models import (
    AssignmentPartRow,
    AssignmentRow,
    CourseRow,
    FeedbackRow,
    MemberRow,
    SubmissionRow,
)
from grader.schemas.feedback import Shown
from grader.service.courses.windows import Windows


def feedback_held(session: Session, row: SubmissionRow) -> bool:
    """Also after the author left or the course was archived."""
    query = select(AssignmentRow.id).where(SubmissionRow.id == row.id, *taught.handed_in())
    within = session.scalars(query.distinct()).all()
    return bool(within) and bool(unreleased(session, within))


def unreleased(session: Session, assignments: Sequence[int]) -> set[int]:
    """Ids with feedback that students cannot read yet."""
    settings = FeedbackRow
    query = select(settings.assignment_id).where(
        settings.assignment_id.in_(assignments),
        settings.shown == Shown.ON_RELEASE,
        settings.released_at.is_(None),
    )
    return set(session.scalars(query))


def hidden_revealed(session: Session, user: int, challenge: str, at: datetime) -> bool:
    """If an assignment reveals them, and every assignment and competition with the challenge has ended for everyone."""
    part = AssignmentPartRow
    found = session.execute(
        select(AssignmentRow, CourseRow)
        .join(part, part.assignment_id == AssignmentRow.id)
        .join(CourseRow, CourseRow.id == AssignmentRow.course_id)
        .where(part.challenge == challenge, AssignmentRow.published_at.is_not(None))
    ).all()
    if any(
        Windows.read(session, course, [assignment]).last_end(assignment) >= at for assignment, course in found
    ):
        return False
    if competitions.to_end(session, challenge, at):
        return False
    mine = set(
        session.scalars(
            select(MemberRow.course_id).where(MemberRow.user_id == user, MemberRow.left_at.is_(None))
        )
    )
    return any(assignment.reveal_hidden and assignment.course_id in mine for assignment, _ in found)
