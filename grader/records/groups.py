"""Groups of courses. For an assignment with groups a submission counts for its author and partners, noted
when it is received: later changes of the group change neither points nor access.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from sqlalchemy import ColumnElement, exists, or_, select
from sqlalchemy.orm import Session, aliased

from grader.records import taught
from grader.records.models import CourseGroupRow, CourseInvitationRow, MemberRow, PartnerRow, SubmissionRow
from grader.schemas.course import CourseRole


def name_of(session: Session, course: int, user: int) -> str:
    """Empty without a group."""
    query = select(MemberRow.group_name).where(*_students(course), MemberRow.user_id == user)
    return session.scalar(query) or ""


def members(session: Session, course: int, name: str, accepted: bool = False) -> list[int]:
    """``accepted``: only those who take part in the course."""
    query = select(MemberRow.user_id).where(*_students(course), MemberRow.group_name == name)
    if accepted:
        query = query.where(taught.accepted())
    return list(session.scalars(query.order_by(MemberRow.id)))


def members_with(session: Session, course: int, user: int) -> list[int]:
    """Includes ``user``."""
    name = name_of(session, course, user)
    found = members(session, course, name, accepted=True) if name else []
    return found if user in found else [user]


def _students(course: int) -> tuple[ColumnElement[bool], ...]:
    left = MemberRow.left_at.is_(None)
    return MemberRow.course_id == course, MemberRow.role == CourseRole.STUDENT.value, left


def make_rows(session: Session, course: int, new_code: Callable[[], str]) -> None:
    """For the groups that a roster names. Lock the course first."""
    named = set[str]()
    for row in (MemberRow, CourseInvitationRow):
        query = select(row.group_name).where(row.course_id == course, row.group_name != "")
        named |= set(session.scalars(query.distinct()))
    known = session.scalars(select(CourseGroupRow.name).where(CourseGroupRow.course_id == course))
    session.add_all(
        CourseGroupRow(course_id=course, name=name, join_code=new_code())
        for name in sorted(named - set(known))
    )
    session.flush()


def lock(session: Session, course: int, user: int) -> str:
    """Locked, so its submissions take turns."""
    name = name_of(session, course, user)
    if name:
        row = CourseGroupRow
        session.execute(
            select(row.id).where(row.course_id == course, row.name == name).with_for_update()
        ).all()
    return name


def hand_in(session: Session, submission: int, assignment: int, partners: Collection[int]) -> None:
    session.add_all(
        PartnerRow(submission_id=submission, assignment_id=assignment, user_id=user) for user in partners
    )


def made_by(assignment: int, users: Collection[int]) -> ColumnElement[bool]:
    """One of these users is the author, or a partner for that assignment."""
    partner = PartnerRow
    with_them = select(partner.submission_id).where(
        partner.assignment_id == assignment, partner.user_id.in_(users)
    )
    return or_(SubmissionRow.user_id.in_(users), SubmissionRow.id.in_(with_them))


def handed_in_together(session: Session, assignment: int, user: int) -> bool:
    """A submission counts for the user and a partner."""
    partner = PartnerRow
    query = (
        select(partner.submission_id)
        .join(SubmissionRow, SubmissionRow.id == partner.submission_id)
        .where(partner.assignment_id == assignment)
        .where(or_(partner.user_id == user, SubmissionRow.user_id == user))
    )
    return session.scalar(query.limit(1)) is not None


class Shared(NamedTuple):
    submission: int
    author: int


def shared(
    session: Session, assignments: Collection[int], users: Collection[int] | None = None
) -> Mapping[tuple[int, int], list[Shared]]:
    """(Assignment, partner) -> what others handed in with them."""
    partner, found = PartnerRow, dict[tuple[int, int], list[Shared]]()
    query = (
        select(partner.assignment_id, partner.user_id, partner.submission_id, SubmissionRow.user_id)
        .join(SubmissionRow, SubmissionRow.id == partner.submission_id)
        .where(partner.assignment_id.in_(assignments))
        .order_by(partner.submission_id)
    )
    if users is not None:
        query = query.where(partner.user_id.in_(users))
    for assignment, user, submission, author in session.execute(query):
        found.setdefault((assignment, user), []).append(Shared(submission, author))
    return found


def partners_of(session: Session, submission: int) -> set[int]:
    """Of a submission (an id), or of the one that it judges again."""
    again = select(SubmissionRow.rejudge_of).where(SubmissionRow.id == submission)
    query = select(PartnerRow.user_id).where(
        or_(PartnerRow.submission_id == submission, PartnerRow.submission_id.in_(again))
    )
    return set(session.scalars(query))


def partners_of_judgements(session: Session, judgements: Collection[int]) -> set[int]:
    """Of the submissions that these rows judge again."""
    again = select(SubmissionRow.rejudge_of).where(SubmissionRow.id.in_(judgements))
    return set(session.scalars(select(PartnerRow.user_id).where(PartnerRow.submission_id.in_(again))))


def has_shared(session: Session, user: int) -> bool:
    query = select(PartnerRow.submission_id).where(PartnerRow.user_id == user)
    return session.scalar(query.limit(1)) is not None


def is_shared_with(user: int) -> ColumnElement[bool]:
    """The user is a partner; also for later judgements."""
    mine = select(PartnerRow.submission_id).where(PartnerRow.user_id == user)
    return or_(SubmissionRow.id.in_(mine), SubmissionRow.rejudge_of.in_(mine))


def are_partners(session: Session, assignment: int, one: int, other: int) -> bool:
    """They handed in together for an assignment, or are in one group of its course now."""
    mine, theirs = aliased(PartnerRow), aliased(PartnerRow)
    both = exists().where(mine.assignment_id == assignment, mine.user_id == one)
    both = both.where(mine.submission_id == theirs.submission_id, theirs.assignment_id == assignment)
    both = both.where(theirs.user_id == other)
    with_author = (
        select(PartnerRow.submission_id)
        .join(SubmissionRow, SubmissionRow.id == PartnerRow.submission_id)
        .where(PartnerRow.assignment_id == assignment)
        .where(
            or_(
                (PartnerRow.user_id == one) & (SubmissionRow.user_id == other),
                (PartnerRow.user_id == other) & (SubmissionRow.user_id == one),
            )
        )
    )
    return session.scalar(with_author.limit(1)) is not None or bool(session.scalar(select(both)))
