"""The inbox of staff: flags of reports, similar pairs, regrade requests and reports of errors."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, and_, exists, func, or_, select, true
from sqlalchemy.orm import Session, aliased, defer, joinedload

from grader.records import taught
from grader.records.models import (
    AssignmentRow,
    ChallengeOwnerRow,
    CourseRow,
    FlagRow,
    MemberRow,
    PostRow,
    RegradeRequestRow,
    ReviewRow,
    SimilarPairRow,
    SubmissionRow,
    UserRow,
)
from grader.schemas.account import STAFF_ROLES
from grader.schemas.discussion import About, PostKind
from grader.schemas.feedback import RequestState
from grader.schemas.inbox import Outcome
from grader.schemas.report import Flag
from grader.schemas.similarity import Decision
from grader.schemas.submission import JudgingReason


@dataclass(frozen=True)
class Wanted:
    """None means any."""

    # Ids; None: all courses.
    courses: Collection[int] | None
    elsewhere: bool
    course: int | None = None
    assignment: int | None = None
    challenges: Collection[str] | None = None
    user: int | None = None
    mark: str | None = None
    outcome: Outcome | None = None
    # Id; 0: nobody.
    reviewer: int | None = None


def flags(
    session: Session, wanted: Wanted, limit: int
) -> Sequence[tuple[FlagRow, SubmissionRow, ReviewRow | None]]:
    table = SubmissionRow
    found = session.execute(
        _flags(select(FlagRow, table, ReviewRow), wanted)
        .options(joinedload(table.user), defer(table.source))
        .order_by(FlagRow.received_at.desc(), FlagRow.submission_id.desc(), FlagRow.flag)
        .limit(limit)
    )
    return [(flag, row, review) for flag, row, review in found]


def _flags(query: Any, wanted: Wanted) -> Any:
    table, first = SubmissionRow, aliased(FlagRow)
    # The same flag on a later judgement is not a new item.
    repeated = exists().where(first.submission_id == table.rejudge_of, first.flag == FlagRow.flag)
    query = (
        query.select_from(FlagRow)
        .join(table, table.id == FlagRow.submission_id)
        .join(UserRow, UserRow.id == table.user_id)
        .outerjoin(
            ReviewRow, (ReviewRow.submission_id == FlagRow.submission_id) & (ReviewRow.flag == FlagRow.flag)
        )
        .where(table.kind != JudgingReason.RUN, FlagRow.flag != Flag.SIMILAR, ~repeated)
        .where(UserRow.role.not_in([role.value for role in STAFF_ROLES]), _within(wanted))
    )
    if wanted.challenges is not None:
        query = query.where(table.challenge.in_(wanted.challenges))
    if wanted.user is not None:
        query = query.where(table.user_id == wanted.user)
    if wanted.mark is not None:
        query = query.where(FlagRow.flag == wanted.mark)
    if wanted.outcome is not None:
        open_too = [ReviewRow.id.is_(None)] if wanted.outcome is Outcome.OPEN else []
        query = query.where(or_(ReviewRow.outcome == wanted.outcome, *open_too))
    return _by_reviewer(query, wanted)


def _by_reviewer(query: Any, wanted: Wanted) -> Any:
    if wanted.reviewer is None:
        return query
    mine = (
        ReviewRow.reviewer_id.is_(None) if wanted.reviewer == 0 else ReviewRow.reviewer_id == wanted.reviewer
    )
    return query.where(mine)


def _within(wanted: Wanted) -> ColumnElement[bool]:
    member = MemberRow
    if wanted.course is not None:
        only = [AssignmentRow.id == wanted.assignment] if wanted.assignment is not None else []
        return taught.belongs(member.course_id == wanted.course, *only)
    if wanted.courses is None:
        return true()
    own = taught.belongs(member.course_id.in_(wanted.courses))
    return or_(own, ~taught.belongs()) if wanted.elsewhere else own


def pairs(
    session: Session, wanted: Wanted, limit: int
) -> Sequence[tuple[SimilarPairRow, AssignmentRow, CourseRow, ReviewRow | None]]:
    found = session.execute(
        _pairs(select(SimilarPairRow, AssignmentRow, CourseRow, ReviewRow), wanted)
        .order_by(SimilarPairRow.id.desc())
        .limit(limit)
    )
    return [(pair, assignment, course, review) for pair, assignment, course, review in found]


def _pairs(query: Any, wanted: Wanted) -> Any:
    pair = SimilarPairRow
    query = (
        query.select_from(pair)
        .join(AssignmentRow, AssignmentRow.id == pair.assignment_id)
        .join(CourseRow, CourseRow.id == AssignmentRow.course_id)
        .outerjoin(ReviewRow, ReviewRow.pair_id == pair.id)
    )
    query = query.where(*_of_courses(CourseRow.id, wanted))
    if wanted.assignment is not None:
        query = query.where(AssignmentRow.id == wanted.assignment)
    elif wanted.challenges is not None:
        query = query.where(pair.challenge.in_(wanted.challenges))
    if wanted.user is not None:
        own = select(SubmissionRow.public_id).where(SubmissionRow.user_id == wanted.user)
        known = own
        if wanted.courses is not None and not wanted.elsewhere:
            # The filter must not reveal the author of a submission from elsewhere.
            known = own.where(taught.belongs(MemberRow.course_id.in_(wanted.courses)))
        query = query.where(or_(pair.submission.in_(own), pair.other.in_(known)))
    if wanted.outcome is Outcome.OPEN:
        query = query.where(pair.decision == Decision.OPEN)
    elif wanted.outcome is Outcome.FINE:
        query = query.where(pair.decision == Decision.DISMISSED)
    elif wanted.outcome is not None:
        talk = [ReviewRow.id.is_(None)] if wanted.outcome is Outcome.TALK else []
        query = query.where(
            and_(pair.decision == Decision.CONFIRMED, or_(ReviewRow.outcome == wanted.outcome, *talk))
        )
    return _by_reviewer(query, wanted)


def _of_courses(column: Any, wanted: Wanted) -> list[ColumnElement[bool]]:
    if wanted.course is not None:
        return [column == wanted.course]
    return [] if wanted.courses is None else [column.in_(wanted.courses)]


def requests(
    session: Session, wanted: Wanted, limit: int
) -> Sequence[tuple[RegradeRequestRow, CourseRow, AssignmentRow, UserRow]]:
    """Unanswered requests, which have no reviewers."""
    if wanted.outcome not in (None, Outcome.OPEN) or wanted.reviewer not in (None, 0):
        return []
    found = session.execute(
        _requests(select(RegradeRequestRow, CourseRow, AssignmentRow, UserRow), wanted)
        .order_by(RegradeRequestRow.id.desc())
        .limit(limit)
    )
    return [(row, course, assignment, user) for row, course, assignment, user in found]


def _requests(query: Any, wanted: Wanted) -> Any:
    table = RegradeRequestRow
    query = (
        query.select_from(table)
        .join(CourseRow, CourseRow.id == table.course_id)
        .join(AssignmentRow, AssignmentRow.id == table.assignment_id)
        .join(UserRow, UserRow.id == table.user_id)
        .where(table.state == RequestState.OPEN, *_of_courses(CourseRow.id, wanted))
    )
    if wanted.assignment is not None:
        query = query.where(table.assignment_id == wanted.assignment)
    elif wanted.challenges is not None:
        query = query.where(table.challenge.in_(wanted.challenges))
    return query if wanted.user is None else query.where(table.user_id == wanted.user)


def errors(
    session: Session, wanted: Wanted, limit: int
) -> Sequence[tuple[PostRow, CourseRow | None, UserRow | None]]:
    """Reports of errors, which have no reviewers."""
    if wanted.outcome not in (None, Outcome.OPEN, Outcome.FINE) or wanted.reviewer not in (None, 0):
        return []
    found = session.execute(
        _errors(select(PostRow, CourseRow, UserRow), wanted).order_by(PostRow.id.desc()).limit(limit)
    )
    return [(post, course, user) for post, course, user in found]


def _errors(query: Any, wanted: Wanted) -> Any:
    table, owner = PostRow, ChallengeOwnerRow
    query = (
        query.select_from(table)
        .outerjoin(owner, (table.about == About.CHALLENGE) & (owner.challenge == table.slug))
        .outerjoin(CourseRow, CourseRow.id == owner.course_id)
        .outerjoin(UserRow, UserRow.id == table.author_id)
        .where(table.kind == PostKind.ERROR, table.deleted_at.is_(None))
    )
    if wanted.course is not None or not wanted.elsewhere:
        query = query.where(*_of_courses(CourseRow.id, wanted))
    elif wanted.courses is not None:
        query = query.where(or_(CourseRow.id.is_(None), CourseRow.id.in_(wanted.courses)))
    if wanted.outcome is Outcome.OPEN:
        query = query.where(table.resolved_at.is_(None))
    elif wanted.outcome is Outcome.FINE:
        query = query.where(table.resolved_at.is_not(None))
    if wanted.challenges is not None:
        query = query.where(table.about == About.CHALLENGE, table.slug.in_(wanted.challenges))
    return query if wanted.user is None else query.where(table.author_id == wanted.user)


def count_open(session: Session, wanted: Wanted, most: int) -> int:
    """At most ``most`` of each kind."""
    total = 0
    queries = (
        _flags(select(FlagRow.submission_id.label("one")), wanted),
        _pairs(select(SimilarPairRow.id.label("one")), wanted),
        _requests(select(RegradeRequestRow.id.label("one")), wanted),
        _errors(select(PostRow.id.label("one")), wanted),
    )
    for query in queries:
        total += session.scalar(select(func.count()).select_from(query.limit(most).subquery())) or 0
    return total


def courses_of(session: Session, wanted: Wanted, rows: Sequence[SubmissionRow]) -> dict[int, str]:
    """Submission (id) -> slug of a wanted course."""
    if not rows:
        return {}
    query = (
        select(SubmissionRow.id, CourseRow.slug)
        .where(SubmissionRow.id.in_({row.id for row in rows}), CourseRow.id == MemberRow.course_id)
        .where(*taught.handed_in(), *_of_courses(CourseRow.id, wanted))
        .order_by(CourseRow.id.desc())
    )
    return dict(session.execute(query).all())
