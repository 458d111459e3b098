"""A course's submissions: by its students while they took part, for a published assignment that asked for the
challenge, while it was open.

Whatever shows students' work to staff must use this rule: ``handed_in`` in queries, ``counts`` in memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, exists, func, or_, select
from sqlalchemy.orm import Session

from grader.records.engine import clock
from grader.records.models import (
    AskedRow,
    AssignmentPartRow,
    AssignmentRow,
    ExtensionRow,
    MemberRow,
    SimilarPairRow,
    StayRow,
    SubmissionRow,
)
from grader.schemas.course import CourseRole
from grader.schemas.similarity import Decision
from grader.schemas.submission import JudgingReason

# A period in a course; None: until now.
Stay = tuple[Any, Any | None]


def handed_in(member: Any = MemberRow) -> list[ColumnElement[bool]]:
    """Joins submissions, members, assignments and parts."""
    table, assignment, part = SubmissionRow, AssignmentRow, AssignmentPartRow
    asked, extension = AskedRow, ExtensionRow
    at = table.created_at
    asked_before = exists().where(
        asked.assignment_id == assignment.id, asked.challenge == part.challenge, asked.asked_at <= at
    )
    extended = exists().where(
        extension.assignment_id == assignment.id,
        or_(extension.user_id == table.user_id, extension.section == member.section),
        at <= func.coalesce(extension.late_until, extension.due_at),
    )
    return [
        member.user_id == table.user_id,
        member.role == CourseRole.STUDENT.value,
        _takes_part(member, at),
        assignment.course_id == member.course_id,
        assignment.published_at.is_not(None),
        part.assignment_id == assignment.id,
        part.challenge == table.challenge,
        at >= assignment.open_at,
        asked_before.correlate(assignment, part, table),
        or_(
            at <= func.coalesce(assignment.late_until, assignment.due_at),
            extended.correlate(assignment, member, table),
        ),
        table.competition_id.is_(None),
        table.kind != JudgingReason.RUN,
    ]


def belongs(*more: ColumnElement[bool], member: Any = MemberRow) -> ColumnElement[bool]:
    """``more`` narrows it to a member or an assignment."""
    return exists().where(*handed_in(member), *more).correlate(SubmissionRow)


def is_marked_similar(session: Session, submission: str, staff: bool) -> bool:
    """For staff unless the pair was dismissed, for the author once it was confirmed. A course marks only its
    own submissions.
    """
    pair = SimilarPairRow
    wanted = pair.decision != Decision.DISMISSED if staff else pair.decision == Decision.CONFIRMED
    courses = session.scalars(
        select(AssignmentRow.course_id)
        .join(pair, pair.assignment_id == AssignmentRow.id)
        .where(or_(pair.submission == submission, pair.other == submission), wanted)
    ).all()
    if not courses:
        return False
    of_one = belongs(MemberRow.course_id.in_(courses))
    query = select(SubmissionRow.id).where(SubmissionRow.public_id == submission, of_one)
    return session.scalar(query) is not None


def _takes_part(member: Any, at: Any) -> ColumnElement[bool]:
    stay = StayRow
    return or_(member.left_at.is_(None), at <= member.left_at) & exists().where(
        stay.member_id == member.id, stay.accepted_at <= at, or_(stay.left_at.is_(None), at <= stay.left_at)
    ).correlate(member, SubmissionRow)


def counts(at: Any, stays: Sequence[Stay], asked_at: Any | None, opens: Any, closes: Any) -> bool:
    """``handed_in`` for a student's submission at ``at``. All times must be of one comparable type."""
    if asked_at is None or at < asked_at or at < opens or at > closes:
        return False
    return any(since <= at and (until is None or at <= until) for since, until in stays)


def stays(session: Session, course: int) -> Mapping[int, list[Stay]]:
    table, member = StayRow, MemberRow
    found: dict[int, list[Stay]] = {}
    query = (
        select(member.user_id, table.accepted_at, table.left_at, member.left_at)
        .join(member, member.id == table.member_id)
        .where(member.course_id == course, member.role == CourseRole.STUDENT.value)
        .order_by(table.id)
    )
    for user, since, until, gone in session.execute(query):
        ends = [end for end in (until, gone) if end is not None]
        found.setdefault(user, []).append((since, min(ends, default=None)))
    return found


def accepted(member: Any = MemberRow) -> ColumnElement[bool]:
    """True for staff, and for a present student who accepted."""
    open_stay = exists().where(StayRow.member_id == member.id, StayRow.left_at.is_(None))
    return or_(member.role != CourseRole.STUDENT.value, open_stay.correlate(member))


def accept(session: Session, member: MemberRow) -> None:
    query = select(StayRow.id).where(StayRow.member_id == member.id, StayRow.left_at.is_(None))
    if session.scalar(query.limit(1)) is None:
        session.add(StayRow(member_id=member.id, accepted_at=clock(session)))
        session.flush()


def let_back_in(session: Session, member: MemberRow) -> None:
    """Later submissions belong to the course only once the student accepts again."""
    rows = session.scalars(select(StayRow).where(StayRow.member_id == member.id, StayRow.left_at.is_(None)))
    for row in rows:
        row.left_at = member.left_at
