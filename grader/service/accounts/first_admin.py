"""The first account is made by somebody who reads the server's log or terminal."""

from __future__ import annotations

from sqlalchemy import select, update

from grader.errors import Conflict
from grader.records.engine import writing
from grader.records.models import LinkRow, UserRow, utcnow
from grader.schemas.account import STAFF_ROLES, Role
from grader.service.accounts import links
from grader.service.accounts.accounts import User, add_row, new_row, of_row
from grader.service.accounts.keys import digest
from grader.service.accounts.links import AccountLink, LinkPurpose, LinkUseless
from grader.service.platform import Platform

_HINT = "Run `grader user bootstrap` on the server to get a link."


def needed(platform: Platform) -> bool:
    with platform.sessions() as session:
        return session.scalar(select(UserRow.id).where(UserRow.role.in_(STAFF_ROLES)).limit(1)) is None


def make_link(platform: Platform) -> AccountLink:
    """Works once. Raises Conflict if there are staff."""
    if not needed(platform):
        raise Conflict(
            "This platform already has staff.",
            "To make an admin: `grader user role NAME admin`. To reset a password: `grader user reset NAME`.",
        )
    with writing(platform.sessions) as session:
        return links.issue(session, LinkPurpose.FIRST_ADMIN)


def check(platform: Platform, key: str) -> None:
    """Raises LinkUseless."""
    with platform.sessions() as session:
        try:
            links.find(session, LinkPurpose.FIRST_ADMIN, key)
        except LinkUseless as error:
            raise LinkUseless(_HINT) from error


def make(platform: Platform, key: str, name: str, password: str) -> User:
    """Ends all such links. Raises LinkUseless, BadRequest, Conflict."""
    check(platform, key)
    row = new_row(name, password, Role.ADMIN)
    # One statement: holders of two links cannot both become the first.
    take_all = (
        update(LinkRow)
        .where(
            LinkRow.purpose == LinkPurpose.FIRST_ADMIN.value,
            LinkRow.used_at.is_(None),
            LinkRow.expires_at > utcnow(),
        )
        .values(used_at=utcnow())
        .returning(LinkRow.sha256)
    )
    with writing(platform.sessions) as session:
        taken = session.scalars(take_all).all()
        if digest(key) not in taken:
            raise LinkUseless(_HINT)
        add_row(session, row)
    return of_row(row)
