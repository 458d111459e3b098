"""Discussions of challenges and chapters. A spoiler's text is only for staff, its author, and those who solved the
challenge or did the chapter's exercises. Courses can close discussions to their students."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader import limits
from grader.errors import BadRequest, Conflict, NotAllowed, NotFound, TooMany
from grader.records import attempts, owners, posts
from grader.records.engine import clock, writing
from grader.records.models import PostRow, UserRow
from grader.records.names import names_of
from grader.schemas.discussion import (
    About,
    Discussion,
    HideBody,
    PostBody,
    PostChange,
    PostKind,
    PostThread,
    PostView,
    Withheld,
)
from grader.schemas.notice import NoticeKind
from grader.service import audit
from grader.service.accounts.accounts import User
from grader.service.challenges import chapters, publication
from grader.service.courses import permissions
from grader.service.courses.permissions import Action
from grader.service.messages import notices
from grader.service.platform import Platform

CLOSED = "Your course has discussions off, for the challenges of its assignments and for chapters."
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class _Talk:
    session: Session
    user: User
    about: About
    slug: str
    title: str
    moderates: bool
    solved: bool

    def find(self, number: int) -> PostRow:
        """Raises NotFound."""
        found = self.session.get(PostRow, number, with_for_update=True) if number < 2**31 else None
        of_page = found is not None and (found.about, found.slug) == (self.about, self.slug)
        if found is None or not of_page or found.kind is not PostKind.POST or found.deleted_at is not None:
            raise NotFound(f"There is no post {number} about {self.slug}.", "It may have been deleted.")
        return found

    def withheld(self, post: PostRow) -> Withheld | None:
        if post.deleted_at is not None:
            return Withheld.DELETED
        if self.moderates or post.author_id == self.user.id:
            return None
        if post.hidden_at is not None:
            return Withheld.HIDDEN
        return Withheld.SPOILER if post.spoiler and not self.solved else None


@contextmanager
def _changing(platform: Platform, user: User, about: About, slug: str) -> Iterator[_Talk]:
    """Raises UnknownChallenge, NotFound, NotAllowed."""
    title, solved = title_of(platform, user, about, slug), _solved(platform, user, about, slug)
    with writing(platform.sessions) as session:
        yield _open(session, user, about, slug, title, solved)


def _open(session: Session, user: User, about: About, slug: str, title: str, solved: bool) -> _Talk:
    """Raises NotAllowed (closed by a course)."""
    moderates = _moderates(session, user, about, slug)
    if not moderates and posts.closed_to(session, [user.id], about, slug):
        raise NotAllowed(CLOSED, "Ask the course's staff: its page Announcements takes questions.")
    return _Talk(session, user, about, slug, title, moderates, solved)


def _moderates(session: Session, user: User, about: About, slug: str) -> bool:
    """Staff of the platform and teachers; of a course's challenge its own."""
    course = owners.of(session, slug) if about is About.CHALLENGE else None
    if course is None:
        standing = permissions.standings_anywhere(session, user)
    else:
        standing = permissions.standings(session, user, course)
    return permissions.may(standing, Action.DISCUSSION_HIDE)


def title_of(platform: Platform, user: User | None, about: About, slug: str) -> str:
    """Raises UnknownChallenge or NotFound if ``user`` does not see the page."""
    if about is About.CHALLENGE:
        return publication.load(platform, user, slug).manifest.title
    return chapters.find(platform, slug).manifest.title


def _solved(platform: Platform, user: User, about: About, slug: str) -> bool:
    if about is About.CHAPTER:
        chapter = chapters.show(platform, user, slug)
        return chapter.done == chapter.total
    with platform.sessions() as session:
        return any(each.challenge == slug and each.accepted for each in attempts.of_user(session, user.id))


def read(
    platform: Platform,
    user: User,
    about: About,
    slug: str,
    older_than: int | None = None,
    thread: int | None = None,
) -> Discussion:
    """``thread``: only this one. Raises UnknownChallenge, NotFound, NotAllowed."""
    title, solved = title_of(platform, user, about, slug), _solved(platform, user, about, slug)
    with platform.sessions() as session:
        talk = _open(session, user, about, slug, title, solved)
        most = limits.THREADS_LISTED
        first = posts.threads(session, about, slug, most + 1, older_than, thread)
        listed = first[:most]
        replies = posts.replies(session, [post.id for post in listed])
        views = _views(talk, [*listed, *replies])
        return Discussion(
            about=about,
            slug=slug,
            title=title,
            threads=[
                PostThread(number=post.id, posts=[view for view in views if view.thread == post.id])
                for post in listed
            ],
            further=listed[-1].id if len(first) > most else None,
            count=posts.count(session, about, slug),
            solved=solved,
            may_hide=talk.moderates,
        )


def count(platform: Platform, user: User | None, about: About, slug: str) -> int | None:
    """None if ``user`` may not read it. The caller checks that they see the page."""
    if user is None:
        return None
    with platform.sessions() as session:
        closed = posts.closed_to(session, [user.id], about, slug)
        if closed and not _moderates(session, user, about, slug):
            return None
        return posts.count(session, about, slug)


def add(platform: Platform, user: User, about: About, slug: str, body: PostBody) -> PostView:
    """Raises UnknownChallenge, NotFound, NotAllowed, BadRequest, TooMany."""
    with _changing(platform, user, about, slug) as talk:
        session = talk.session
        check_rate(session, user)
        thread = talk.find(body.thread) if body.thread is not None else None
        if thread is not None and thread.thread_id is not None:
            raise BadRequest(
                f"Post {thread.id} is a reply, so nobody can reply to it.", f"Reply to {thread.thread_id}."
            )
        post = PostRow(
            about=about,
            slug=slug,
            kind=PostKind.POST,
            thread_id=thread.id if thread is not None else None,
            author_id=user.id,
            staff=talk.moderates,
            text=tidy(body.text),
            spoiler=body.spoiler,
            created_at=clock(session),
        )
        session.add(post)
        session.flush()
        _tell(talk, post)
        return _views(talk, [post])[0]


def check_rate(session: Session, user: User) -> None:
    """Raises TooMany."""
    # Serialises the posts of a user, or several at once would pass.
    session.execute(select(UserRow.id).where(UserRow.id == user.id).with_for_update())
    if posts.written_since(session, user.id, clock(session) - _DAY) >= limits.POSTS_A_DAY:
        raise TooMany(f"You wrote {limits.POSTS_A_DAY} posts in 24 hours.", "Write again tomorrow.")


def tidy(text: str) -> str:
    """Raises BadRequest."""
    found = text.replace("\r\n", "\n").strip()
    if not found:
        raise BadRequest("The text is empty.", "Write something.")
    return found


def _tell(talk: _Talk, post: PostRow) -> None:
    """Those who wrote in the thread and may read it. Without the text, which may be a spoiler."""
    if post.thread_id is None:
        return
    whom = posts.writers(talk.session, post.thread_id) - {talk.user.id}
    whom -= posts.closed_to(talk.session, whom, talk.about, talk.slug)
    text = f"{talk.user.name} replied in a discussion of {talk.title}"
    notices.notify(talk.session, whom, NoticeKind.DISCUSSION, text, _path(talk, post))


def _path(talk: _Talk, post: PostRow) -> str:
    return f"{page_of(talk.about, talk.slug)}/discussion?thread={post.thread_id or post.id}"


def page_of(about: About, slug: str) -> str:
    return f"/challenges/{slug}" if about is About.CHALLENGE else f"/learn/{slug}"


def change(
    platform: Platform, user: User, about: About, slug: str, number: int, body: PostChange
) -> PostView:
    """One's own. Raises UnknownChallenge, NotFound, NotAllowed, BadRequest."""
    with _changing(platform, user, about, slug) as talk:
        post = talk.find(number)
        if post.author_id != user.id:
            raise NotAllowed("Only its author can change a post.", "Write a reply.")
        if body.spoiler is not None:
            post.spoiler = body.spoiler
        if body.text is not None and (text := tidy(body.text)) != post.text:
            post.text, post.edited_at = text, clock(talk.session)
        return _views(talk, [post])[0]


def remove(platform: Platform, user: User, about: About, slug: str, number: int) -> PostView:
    """One's own. While it has replies, others see that it existed. Raises UnknownChallenge, NotFound, NotAllowed."""
    with _changing(platform, user, about, slug) as talk:
        session = talk.session
        post = talk.find(number)
        if post.author_id != user.id:
            raise NotAllowed("Only its author can delete a post.", "Staff can hide it.")
        post.text, post.deleted_at = "", clock(session)
        view = _views(talk, [post])[0]
        if not posts.replies(session, [post.id]):
            session.delete(post)
        return view


def hide(platform: Platform, user: User, about: About, slug: str, number: int, body: HideBody) -> PostView:
    """Or restore. Raises UnknownChallenge, NotFound, NotAllowed, BadRequest (no reason), Conflict."""
    with _changing(platform, user, about, slug) as talk:
        session = talk.session
        post = talk.find(number)
        course = owners.of(session, slug) if about is About.CHALLENGE else None
        if not talk.moderates:
            permissions.check(user, permissions.standings(session, user, course), Action.DISCUSSION_HIDE)
        if body.hidden == (post.hidden_at is not None):
            raise Conflict(
                f"Post {number} is {'already' if body.hidden else 'not'} hidden.", "Reload the page."
            )
        reason = audit.tidy_reason(body.reason, needed=body.hidden)
        post.hidden_at = clock(session) if body.hidden else None
        post.hidden_by = user.id if body.hidden else None
        post.hidden_reason = reason if body.hidden else ""
        subject = f"/discussions/{about.value}/{slug}/{number}"
        audit.note(
            session,
            user,
            Action.DISCUSSION_HIDE,
            subject,
            course=course,
            before={"hidden": not body.hidden},
            after={"hidden": body.hidden},
            reason=reason,
        )
        if body.hidden and post.author_id is not None:
            text = f"Staff hid your post about {talk.title}: {reason}"
            notices.notify(
                session, {post.author_id} - {user.id}, NoticeKind.DISCUSSION, text, _path(talk, post)
            )
        return _views(talk, [post])[0]


def _views(talk: _Talk, rows: Sequence[PostRow]) -> list[PostView]:
    people = {person for post in rows for person in (post.author_id, post.hidden_by)}
    names = names_of(talk.session, people)
    return [_view(talk, post, names) for post in rows]


def _view(talk: _Talk, post: PostRow, names: dict[int, str]) -> PostView:
    withheld, own = talk.withheld(post), post.author_id == talk.user.id
    return PostView(
        number=post.id,
        thread=post.thread_id or post.id,
        author=names.get(post.author_id or 0),
        staff=post.staff,
        own=own,
        text=post.text if withheld is None else "",
        withheld=withheld,
        spoiler=post.spoiler,
        created_at=post.created_at,
        edited_at=post.edited_at,
        hidden_at=post.hidden_at,
        hidden_by=names.get(post.hidden_by or 0) if talk.moderates else None,
        hidden_reason=post.hidden_reason if talk.moderates or own else "",
    )
