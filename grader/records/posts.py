"""Queries of discussions, which show no reports of errors."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, exists, func, or_, select, true
from sqlalchemy.orm import Session, aliased

from grader.records import taught
from grader.records.models import AssignmentPartRow, AssignmentRow, CourseRow, MemberRow, PostRow
from grader.schemas.course import CourseRole
from grader.schemas.discussion import About, PostKind


def of_page(about: About, slug: str, kind: PostKind) -> list[ColumnElement[bool]]:
    return [PostRow.about == about, PostRow.slug == slug, PostRow.kind == kind]


def closed_to(session: Session, users: Collection[int], about: About, slug: str) -> frozenset[int]:
    """Those of ``users`` (ids) who are students of a course that has discussions off: all chapters, and the challenges
    of its published assignments."""
    member = MemberRow
    within: ColumnElement[bool] = true()
    if about is About.CHALLENGE:
        within = exists().where(
            AssignmentRow.course_id == CourseRow.id,
            AssignmentRow.published_at.is_not(None),
            AssignmentPartRow.assignment_id == AssignmentRow.id,
            AssignmentPartRow.challenge == slug,
        )
    found = session.scalars(
        select(member.user_id)
        .join(CourseRow, CourseRow.id == member.course_id)
        .where(member.user_id.in_(users), member.role == CourseRole.STUDENT.value)
        .where(member.left_at.is_(None), taught.accepted())
        .where(CourseRow.archived_at.is_(None), CourseRow.discussion.is_(False), within)
    )
    return frozenset(found)


def count(session: Session, about: About, slug: str) -> int:
    query = select(func.count()).select_from(PostRow)
    query = query.where(*of_page(about, slug, PostKind.POST), PostRow.deleted_at.is_(None))
    return session.scalar(query) or 0


def threads(
    session: Session, about: About, slug: str, limit: int, older_than: int | None, only: int | None
) -> Sequence[PostRow]:
    """First posts, newest first; a deleted one only while it has replies."""
    reply = aliased(PostRow)
    replied = exists().where(reply.thread_id == PostRow.id, reply.deleted_at.is_(None))
    query = (
        select(PostRow)
        .where(*of_page(about, slug, PostKind.POST), PostRow.thread_id.is_(None))
        .where(or_(PostRow.deleted_at.is_(None), replied.correlate(PostRow)))
        .order_by(PostRow.id.desc())
    )
    if older_than is not None:
        query = query.where(PostRow.id < older_than)
    if only is not None:
        query = query.where(PostRow.id == only)
    return session.scalars(query.limit(limit)).all()


def replies(session: Session, of: Collection[int]) -> Sequence[PostRow]:
    """Oldest first, without deleted ones."""
    query = select(PostRow).where(PostRow.thread_id.in_(of), PostRow.deleted_at.is_(None))
    return session.scalars(query.order_by(PostRow.id)).all()


def writers(session: Session, thread: int) -> set[int]:
    """Ids of those who wrote in it."""
    query = select(PostRow.author_id).where(
        or_(PostRow.id == thread, PostRow.thread_id == thread), PostRow.deleted_at.is_(None)
    )
    return {author for author in session.scalars(query) if author is not None}


def written_since(session: Session, author: int, since: datetime) -> int:
    query = select(func.count()).select_from(PostRow)
    return session.scalar(query.where(PostRow.author_id == author, PostRow.created_at > since)) or 0
