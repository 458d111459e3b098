"""Whether the platform or a course owns a challenge, and who may do what. Slugs are unique."""

from __future__ import annotations

from sqlalchemy.orm import Session

from grader.records import owners
from grader.service.accounts.accounts import User
from grader.service.courses import permissions
from grader.service.courses.permissions import Action, Standing
from grader.service.platform import Platform

_OUTSIDE = frozenset({Standing.VISITOR, Standing.STUDENT})
_READING = (Action.CHALLENGE_UPLOADS, Action.CHALLENGE_READ_DRAFT)


def may(session: Session, user: User, slug: str, action: Action) -> bool:
    """``action``: ``CHALLENGE_...``; the challenge need not exist."""
    return permissions.may(*_right(session, user, slug, action))


def check(session: Session, user: User, slug: str, action: Action) -> None:
    """Raises NotAllowed with one text for other courses' and unknown challenges."""
    permissions.check(user, *_right(session, user, slug, action))


def check_once(platform: Platform, user: User, slug: str, action: Action) -> None:
    """As ``check``, in its own transaction."""
    with platform.sessions() as session:
        check(session, user, slug, action)


def course_of(platform: Platform, slug: str) -> str | None:
    with platform.sessions() as session:
        course = owners.of(session, slug)
        return owners.course_names(session, [course])[course] if course is not None else None


def _right(session: Session, user: User, slug: str, action: Action) -> tuple[frozenset[Standing], Action]:
    course = owners.of(session, slug)
    standing = permissions.standings(session, user, course)
    if course is None or standing <= _OUTSIDE:
        return permissions.standings(session, user), action
    return standing, Action.CATALOGUE_READ if action in _READING else Action.CATALOGUE_EDIT
