"""Notices on the site; ``digests`` mails them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from grader import limits
from grader.records.engine import writing
from grader.records.models import NoticeChoiceRow, NoticeRow, UserRow, utcnow
from grader.schemas.notice import (
    NoticeChoice,
    NoticeChoices,
    NoticeChoicesBody,
    NoticeKind,
    NoticeList,
    NoticesRead,
    NoticeView,
)
from grader.service.accounts.accounts import User
from grader.service.messages import mail
from grader.service.platform import Platform

_LIST_MOST = 200
_TEXT_CHARS = 300


def notify(session: Session, users: Iterable[int], kind: NoticeKind, text: str, path: str) -> None:
    """As ``users`` (ids) chose for the kind. ``path``: the event's page. Counts up an unread notice of that page."""
    gone = select(UserRow.id).where(UserRow.deleted_at.is_not(None))
    whom = set(users)
    whom -= set(session.scalars(gone.where(UserRow.id.in_(whom)))) if whom else set()
    if not whom:
        return
    text, path, now = " ".join(text.split())[:_TEXT_CHARS], path[: limits.PATH_CHARS], utcnow()
    chosen = _chosen(session, whom, kind)
    unread = {
        row.user_id: row
        for row in session.scalars(
            select(NoticeRow)
            .where(
                NoticeRow.user_id.in_(whom),
                NoticeRow.kind == kind,
                NoticeRow.path == path,
                NoticeRow.read_at.is_(None),
            )
            .order_by(NoticeRow.id)
            # A mail that began meanwhile does not include this.
            .with_for_update()
        )
    }
    for user in sorted(whom):
        choice = chosen.get(user, NoticeChoice(kind=kind))
        if not (choice.site or choice.mail):
            continue
        if (present := unread.get(user)) is not None:
            present.text, present.created_at, present.count = text, now, present.count + 1
            present.on_site, present.mail_due = choice.site, choice.mail
            # A mail in progress has the previous text.
            present.mail_id = present.mail_begun_at = None
            present.mail_tries = 0
            continue
        session.add(
            NoticeRow(
                user_id=user,
                kind=kind,
                text=text,
                path=path,
                on_site=choice.site,
                mail_due=choice.mail,
                created_at=now,
            )
        )


def _chosen(session: Session, users: Collection[int], kind: NoticeKind) -> dict[int, NoticeChoice]:
    return {
        row.user_id: NoticeChoice(kind=kind, site=row.site, mail=row.mail)
        for row in session.scalars(
            select(NoticeChoiceRow).where(NoticeChoiceRow.kind == kind, NoticeChoiceRow.user_id.in_(users))
        )
    }


def list_notices(
    platform: Platform, user: User, limit: int = 50, older_than: int | None = None
) -> NoticeList:
    """Newest first, at most ``limit`` (up to 200), after ``older_than``."""
    query = (
        select(NoticeRow).where(NoticeRow.user_id == user.id, NoticeRow.on_site).order_by(NoticeRow.id.desc())
    )
    if older_than is not None:
        query = query.where(NoticeRow.id < older_than)
    with platform.sessions() as session:
        found = session.scalars(query.limit(max(0, min(limit, _LIST_MOST)))).all()
        return NoticeList(notices=[_view(notice) for notice in found], unread=_unread(session, user.id))


def _view(row: NoticeRow) -> NoticeView:
    return NoticeView(
        id=row.id,
        kind=row.kind,
        text=row.text,
        path=row.path,
        count=row.count,
        created_at=row.created_at,
        read_at=row.read_at,
    )


def unread(platform: Platform, user: User) -> int:
    with platform.sessions() as session:
        return _unread(session, user.id)


def _unread(session: Session, user: int) -> int:
    own = (NoticeRow.user_id == user, NoticeRow.read_at.is_(None), NoticeRow.on_site)
    return session.scalar(select(func.count()).select_from(NoticeRow).where(*own)) or 0


def mark_read(platform: Platform, user: User, body: NoticesRead) -> NoticeList:
    """Ignores unknown ones. Read ones are not mailed."""
    own = update(NoticeRow).where(NoticeRow.user_id == user.id, NoticeRow.read_at.is_(None))
    if body.ids is not None:
        own = own.where(NoticeRow.id.in_(body.ids))
    with writing(platform.sessions) as session:
        session.execute(own.values(read_at=utcnow(), mail_due=False))
    return list_notices(platform, user)


def choices(platform: Platform, user: User) -> NoticeChoices:
    with platform.sessions() as session:
        stored = {
            row.kind: row
            for row in session.scalars(select(NoticeChoiceRow).where(NoticeChoiceRow.user_id == user.id))
        }
        address = session.scalar(select(UserRow.email).where(UserRow.id == user.id))
    return NoticeChoices(
        choices=[
            NoticeChoice(
                kind=kind,
                site=stored[kind].site if kind in stored else True,
                mail=stored[kind].mail if kind in stored else True,
            )
            for kind in NoticeKind
        ],
        mailed=mail.configured(platform.settings) and address is not None,
    )


def choose(platform: Platform, user: User, body: NoticeChoicesBody) -> NoticeChoices:
    """A kind that is off is not mailed, not even waiting notices."""
    with writing(platform.sessions) as session:
        for choice in body.choices:
            put_choice(session, user.id, choice)
    return choices(platform, user)


def put_choice(session: Session, user: int, choice: NoticeChoice) -> None:
    session.merge(NoticeChoiceRow(user_id=user, **choice.model_dump()))
    if not choice.mail:
        waiting = (NoticeRow.user_id == user, NoticeRow.kind == choice.kind, NoticeRow.mail_due)
        session.execute(update(NoticeRow).where(*waiting).values(mail_due=False))
