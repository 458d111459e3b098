"""Reports of errors on the pages of challenges and chapters: for the platform's staff; on a course's challenge for its
own. Courses that have discussions off do not close them."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.errors import BadRequest, NotFound
from grader.records import owners, posts
from grader.records.engine import clock, writing
from grader.records.models import PostRow
from grader.schemas.discussion import About, ErrorReport, ErrorReportBody, PostKind
from grader.schemas.inbox import Outcome
from grader.schemas.notice import NoticeKind
from grader.service import audit
from grader.service.accounts.accounts import User
from grader.service.challenges import discussion
from grader.service.courses import permissions
from grader.service.courses.permissions import Action
from grader.service.messages import notices
from grader.service.platform import Platform

ANCHOR = "error-report"
_SHOWN = 5


def report(platform: Platform, user: User, about: About, slug: str, body: ErrorReportBody) -> ErrorReport:
    """Raises UnknownChallenge, NotFound, BadRequest, TooMany."""
    discussion.title_of(platform, user, about, slug)
    with writing(platform.sessions) as session:
        discussion.check_rate(session, user)
        post = PostRow(
            about=about,
            slug=slug,
            kind=PostKind.ERROR,
            author_id=user.id,
            text=discussion.tidy(body.text),
            created_at=clock(session),
            answer="",
        )
        session.add(post)
        session.flush()
        return _view(post)


def own(platform: Platform, user: User | None, about: About, slug: str) -> list[ErrorReport]:
    """The newest of ``user`` on this page."""
    if user is None:
        return []
    query = (
        select(PostRow)
        .where(*posts.of_page(about, slug, PostKind.ERROR), PostRow.author_id == user.id)
        .where(PostRow.deleted_at.is_(None))
        .order_by(PostRow.id.desc())
        .limit(_SHOWN)
    )
    with platform.sessions() as session:
        return [_view(post) for post in session.scalars(query)]


def _view(post: PostRow) -> ErrorReport:
    return ErrorReport(
        number=post.id,
        text=post.text,
        created_at=post.created_at,
        resolved_at=post.resolved_at,
        answer=post.answer,
    )


def decide(session: Session, user: User, number: str, outcome: Outcome, reason: str) -> None:
    """For the inbox: ``fine`` resolves a report and ``reason`` is the answer, ``open`` reopens it. Raises NotFound,
    NotAllowed, BadRequest."""
    post = _find(session, number)
    course = owners.of(session, post.slug) if post.about is About.CHALLENGE else None
    action = Action.REVIEW_ANY if course is None else Action.REVIEW
    permissions.check(user, permissions.standings(session, user, course), action)
    if outcome not in (Outcome.FINE, Outcome.OPEN):
        raise BadRequest("A report of an error can only be resolved or reopened.", "Choose one of these.")
    resolved = outcome is Outcome.FINE
    if resolved == (post.resolved_at is not None):
        return
    answer = audit.tidy_reason(reason)
    post.resolved_at = clock(session) if resolved else None
    post.resolved_by = user.id if resolved else None
    post.answer = answer if resolved else ""
    subject = f"/discussions/{post.about.value}/{post.slug}/{post.id}"
    after = {"outcome": outcome.value}
    audit.note(session, user, action, subject, course=course, before={}, after=after, reason=answer)
    if resolved and post.author_id is not None:
        text = f"Staff resolved your report of an error in {post.slug}" + (f": {answer}" if answer else "")
        path = f"{discussion.page_of(post.about, post.slug)}#{ANCHOR}"
        notices.notify(session, {post.author_id} - {user.id}, NoticeKind.DISCUSSION, text, path)


def _find(session: Session, number: str) -> PostRow:
    """Raises NotFound."""
    known = number.isascii() and number.isdigit() and len(number) < 10
    post = session.get(PostRow, int(number), with_for_update=True) if known else None
    if post is None or post.kind is not PostKind.ERROR or post.deleted_at is not None:
        raise NotFound(f"There is no item 'error:{number[:40]}'.", "`grader inbox list` lists the items.")
    return post
