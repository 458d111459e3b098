from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, case, func, select
from sqlalchemy.orm import Session

from grader.errors import Conflict, NotFound
from grader.records.models import (
    AssignmentRow,
    LtiContextRow,
    LtiLinkRow,
    LtiPlatformRow,
    LtiScoreRow,
    MemberRow,
    UserRow,
    utcnow,
)
from grader.schemas.course import CourseRole
from grader.schemas.lti import LtiContextView, LtiCourse, LtiLinkView, LtiScoreState, LtiScoreView, Teachers
from grader.service.accounts.accounts import User
from grader.service.courses import courses
from grader.service.courses.courses import OpenCourse
from grader.service.courses.permissions import Action
from grader.service.lti.passback import compare_course, queue_again, subjects_of
from grader.service.platform import Platform


def read(platform: Platform, user: User, slug: str) -> LtiCourse:
    """Raises NotFound, NotAllowed."""
    with courses.reading(platform, user, slug, Action.LTI_READ) as course:
        return _view(course)


@dataclass(frozen=True)
class Counted:
    """A link's sent, waiting and failed grades."""

    assignment: str
    platform: str
    released: bool
    sent: int
    pending: int
    failed: int
    sent_at: datetime | None


def counted(platform: Platform, user: User, slug: str) -> list[Counted]:
    """By link, for the gradebook. Raises NotFound, NotAllowed."""

    def many(state: LtiScoreState) -> ColumnElement[int]:
        return func.coalesce(func.sum(case((LtiScoreRow.state == state.value, 1), else_=0)), 0)

    with courses.reading(platform, user, slug, Action.LTI_READ) as course:
        query = (
            select(
                AssignmentRow.slug,
                LtiPlatformRow.name,
                LtiLinkRow.released_at,
                many(LtiScoreState.SENT),
                many(LtiScoreState.PENDING),
                many(LtiScoreState.FAILED),
                func.max(LtiScoreRow.sent_at),
            )
            .select_from(LtiLinkRow)
            .join(LtiContextRow, LtiContextRow.id == LtiLinkRow.context_id)
            .join(LtiPlatformRow, LtiPlatformRow.id == LtiContextRow.platform_id)
            .join(AssignmentRow, AssignmentRow.id == LtiLinkRow.assignment_id)
            .outerjoin(LtiScoreRow, LtiScoreRow.link_id == LtiLinkRow.id)
            .where(LtiContextRow.course_id == course.row.id)
            .group_by(
                LtiLinkRow.id,
                AssignmentRow.slug,
                AssignmentRow.due_at,
                LtiPlatformRow.name,
                LtiLinkRow.released_at,
            )
            .order_by(AssignmentRow.due_at, LtiLinkRow.id)
        )
        found = course.session.execute(query).all()
    return [
        Counted(assignment, name, released is not None, int(sent), int(pending), int(failed), sent_at)
        for assignment, name, released, sent, pending, failed, sent_at in found
    ]


def release(platform: Platform, user: User, slug: str, number: int, released: bool) -> LtiCourse:
    """Starts or stops sending; sent grades stay. Raises NotFound, NotAllowed, Conflict (no column)."""
    with courses.changing(platform, user, slug, Action.LTI_SEND) as course:
        link = _link(course, number)
        if released and not link.line_item:
            raise Conflict(
                "The platform has no gradebook column for this link.",
                link.why_not or "Follow the link there once, then release again.",
            )
        before = {"released": link.released_at is not None}
        link.released_at = (link.released_at or utcnow()) if released else None
        course.note(Action.LTI_SEND, f"/lti/links/{number}", before=before, after={"released": released})
        course.session.flush()
        course_id = course.row.id
    if released:
        compare_course(platform, course_id)
    return read(platform, user, slug)


def send_again(
    platform: Platform, user: User, slug: str, number: int, student: str | None = None
) -> LtiCourse:
    """One student's, or all. Raises NotFound, NotAllowed."""
    now = utcnow()
    with courses.changing(platform, user, slug, Action.LTI_SEND) as course:
        link = _link(course, number)
        query = select(LtiScoreRow).join(UserRow, UserRow.id == LtiScoreRow.user_id)
        query = query.where(LtiScoreRow.link_id == link.id)
        if student is None:
            query = query.where(LtiScoreRow.state != LtiScoreState.SENT.value)
        else:
            query = query.where(UserRow.name_key == student.lower())
        rows = course.session.scalars(query).all()
        if student is not None and not rows:
            raise NotFound(
                f"There is no grade of '{student}' for this link.", "The course's page lists the grades."
            )
        for row in rows:
            queue_again(row, now)
        course.note(Action.LTI_SEND, f"/lti/links/{number}/send", after={"grades": len(rows)})
        course.session.flush()
        return _view(course)


def unlink(platform: Platform, user: User, slug: str, number: int) -> LtiCourse:
    """Members and sent grades stay. Raises NotFound, NotAllowed."""
    with courses.changing(platform, user, slug, Action.LTI_LINK) as course:
        row = course.session.get(LtiContextRow, number) if number < 2**31 else None
        if row is None or row.course_id != course.row.id:
            raise NotFound(
                f"There is no linked course {number} in {slug}.",
                "The course's page lists its linked courses.",
            )
        course.note(Action.LTI_LINK, f"/lti/{number}", before={"context": row.title}, after={"context": None})
        course.session.delete(row)
        course.session.flush()
        return _view(course)


def _link(course: OpenCourse, number: int) -> LtiLinkRow:
    row = course.session.get(LtiLinkRow, number) if number < 2**31 else None
    context = course.session.get(LtiContextRow, row.context_id) if row is not None else None
    if row is None or context is None or context.course_id != course.row.id:
        raise NotFound(
            f"There is no link {number} in {course.row.slug}.", "The course's page lists its links."
        )
    return row


def _view(course: OpenCourse) -> LtiCourse:
    session = course.session
    contexts = session.execute(
        select(LtiContextRow, LtiPlatformRow, UserRow.name)
        .join(LtiPlatformRow, LtiPlatformRow.id == LtiContextRow.platform_id)
        .outerjoin(UserRow, UserRow.id == LtiContextRow.linked_by)
        .where(LtiContextRow.course_id == course.row.id)
        .order_by(LtiContextRow.id)
    ).all()
    students = session.execute(
        select(UserRow.id, UserRow.name)
        .join(MemberRow, MemberRow.user_id == UserRow.id)
        .where(
            MemberRow.course_id == course.row.id,
            MemberRow.left_at.is_(None),
            MemberRow.role == CourseRole.STUDENT.value,
        )
        .order_by(UserRow.name_key)
    ).all()
    found = []
    for context, learning, linked_by in contexts:
        known = subjects_of(session, learning)
        unknown = [name for user, name in students if user not in known]
        rows = session.execute(
            select(LtiLinkRow, AssignmentRow.slug)
            .join(AssignmentRow, AssignmentRow.id == LtiLinkRow.assignment_id)
            .where(LtiLinkRow.context_id == context.id)
            .order_by(AssignmentRow.due_at, LtiLinkRow.id)
        ).all()
        found.append(
            LtiContextView(
                id=context.id,
                platform=learning.name,
                title=context.title,
                teachers=Teachers(context.teachers),
                linked_by=linked_by,
                created_at=context.created_at,
                links=[_link_view(session, course.row.id, row, slug, unknown) for row, slug in rows],
            )
        )
    return LtiCourse(course=course.row.slug, contexts=found)


def _link_view(
    session: Session, course: int, row: LtiLinkRow, slug: str, unknown: Iterable[str]
) -> LtiLinkView:
    scores = session.execute(
        select(LtiScoreRow, UserRow.name, MemberRow.full_name)
        .join(UserRow, UserRow.id == LtiScoreRow.user_id)
        .outerjoin(MemberRow, (MemberRow.user_id == UserRow.id) & (MemberRow.course_id == course))
        .where(LtiScoreRow.link_id == row.id)
        .order_by(UserRow.name_key)
    ).all()
    return LtiLinkView(
        id=row.id,
        assignment=slug,
        title=row.title,
        graded=bool(row.line_item),
        why_not=row.why_not,
        released_at=row.released_at,
        unknown=list(unknown),
        scores=[
            LtiScoreView(
                student=name,
                full_name=full_name or "",
                points=score.points,
                most=score.most,
                state=LtiScoreState(score.state),
                tries=score.tries,
                error=score.error,
                changed_at=score.changed_at,
                next_at=score.next_at if score.state == LtiScoreState.PENDING.value else None,
                sent_points=score.sent_points,
                sent_at=score.sent_at,
            )
            for score, name, full_name in scores
        ],
    )
