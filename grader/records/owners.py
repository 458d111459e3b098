"""Challenges without an owner are the platform's."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.records import taught
from grader.records.models import (
    ChallengeOwnerRow,
    ChallengeStateRow,
    CourseRow,
    MemberRow,
    SubmissionRow,
    UploadRow,
    VersionRow,
)


def of(session: Session, challenge: str) -> int | None:
    row = session.get(ChallengeOwnerRow, challenge)
    return row.course_id if row is not None else None


def everything(session: Session) -> dict[str, int]:
    table = ChallengeOwnerRow
    return {row.challenge: row.course_id for row in session.execute(select(table.challenge, table.course_id))}


def of_course(session: Session, course: int) -> list[str]:
    table = ChallengeOwnerRow
    found = select(table.challenge).where(table.course_id == course).order_by(table.challenge)
    return list(session.scalars(found))


def course_names(session: Session, courses: Collection[int]) -> dict[int, str]:
    found = session.execute(select(CourseRow.id, CourseRow.slug).where(CourseRow.id.in_(courses)))
    return {row.id: row.slug for row in found}


def take(session: Session, challenge: str, course: int) -> None:
    """Raises IntegrityError at the flush if another transaction was first."""
    session.add(ChallengeOwnerRow(challenge=challenge, course_id=course))


def is_free(session: Session, challenge: str) -> bool:
    """Nothing was ever stored under the name."""
    used = (
        select(SubmissionRow.id).where(SubmissionRow.challenge == challenge),
        select(VersionRow.id).where(VersionRow.challenge == challenge),
        select(UploadRow.id).where(UploadRow.challenge == challenge),
        select(ChallengeStateRow.challenge).where(ChallengeStateRow.challenge == challenge),
        select(ChallengeOwnerRow.challenge).where(ChallengeOwnerRow.challenge == challenge),
    )
    return all(session.scalar(query.limit(1)) is None for query in used)


def courses_of(session: Session, user: int) -> frozenset[int]:
    """As staff, or as a student who has accepted."""
    mine = (MemberRow.user_id == user, MemberRow.left_at.is_(None), taught.accepted())
    return frozenset(session.scalars(select(MemberRow.course_id).where(*mine)))
