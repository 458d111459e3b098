"""Which submissions resemble another one, as far as anybody looked."""

from __future__ import annotations

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from grader.records import taught
from grader.records.models import AssignmentRow, MemberRow, SimilarPairRow, SubmissionRow
from grader.schemas.similarity import Decision


def is_marked(session: Session, submission: str, staff: bool) -> bool:
    """Whether a submission's report bears the flag: for staff (``staff``) unless the pair was dismissed, for its author
    once it was confirmed. A course marks nothing that was handed in elsewhere."""
    pair = SimilarPairRow
    wanted = pair.decision != Decision.DISMISSED if staff else pair.decision == Decision.CONFIRMED
    courses = session.scalars(
        select(AssignmentRow.course_id)
        .join(pair, pair.assignment_id == AssignmentRow.id)
        .where(or_(pair.submission == submission, pair.other == submission), wanted)
    ).all()
    if not courses:
        return False
    of_one = taught.belongs(MemberRow.course_id.in_(courses))
    query = select(SubmissionRow.id).where(SubmissionRow.public_id == submission, of_one)
    return session.scalar(query) is not None
