from __future__ import annotations

from sqlalchemy import Select, or_, select

from grader import limits
from grader.errors import NotAllowed
from grader.records.engine import writing
from grader.records.models import UserRow
from grader.schemas.account import STAFF_ROLES, Role
from grader.service import audit
from grader.service.accounts import links
from grader.service.accounts.accounts import (
    User,
    check_not_deleted,
    check_staff,
    find_row,
    hash_password,
    name_key,
    of_row,
    put_password,
)
from grader.service.accounts.links import AccountLink, LinkPurpose, LinkUseless
from grader.service.courses.permissions import Action
from grader.service.messages import mail
from grader.service.platform import Platform

# Equal for every name: it must not reveal who has an account.
ANSWER = (
    "If that account exists and has an e-mail address, we have sent it a link. It works once, within an hour."
)
_TEXT = """\
Hello {name},

somebody, most likely you, asked for a new password for your account. Set one here:

{link}

The link works once, until {until:%Y-%m-%d %H:%M} UTC. If it was not you, ignore this message, and your password
stays as it is.
"""


def ask(platform: Platform, name: str) -> None:
    """Runs after the answer, so every name takes the same time. Raises Conflict (no mail here)."""
    mail.need(platform.settings)
    mail.later(lambda: _send(platform, name.strip()))


def _send(platform: Platform, name: str) -> None:
    with writing(platform.sessions) as session:
        row = session.scalar(_named(name))
        if row is None or row.email is None:
            return
        to, who = row.email, row.name
        if links.too_many_lately(session, LinkPurpose.RESET, email=to):
            return
        link = links.issue(session, LinkPurpose.RESET, user_id=row.id, email=to)
    text = _TEXT.format(name=who, link=link.at(links.base_url(platform.settings)), until=link.expires_at)
    mail.send(platform.settings, to, "A new password", text)


def _named(name: str) -> Select[UserRow]:
    key = name[: limits.EMAIL_CHARS].lower()
    # Names contain no "@".
    return select(UserRow).where(
        or_(UserRow.name_key == name_key(name), UserRow.email_key == key) if name else UserRow.id.is_(None)
    )


def make_link(platform: Platform, name: str) -> AccountLink:
    """For operators. Raises NotFound, Conflict (deleted)."""
    with writing(platform.sessions) as session:
        row = find_row(session, name)
        check_not_deleted(row)
        return links.issue(session, LinkPurpose.RESET, user_id=row.id)


def make_link_as(platform: Platform, user: User, name: str) -> AccountLink:
    """For students; only admins make links for staff, or staff could take over an admin. Raises NotAllowed, NotFound,
    Conflict (deleted)."""
    check_staff(user)
    with writing(platform.sessions) as session:
        row = find_row(session, name)
        check_not_deleted(row)
        if Role(row.role) in STAFF_ROLES and not user.admin:
            raise NotAllowed("Only admins can make a link for staff.", "Ask an admin.")
        audit.note(session, user, Action.PERSON_RESET, f"/people/{row.name}/password-reset")
        return links.issue(session, LinkPurpose.RESET, user_id=row.id)


def account_name(platform: Platform, key: str) -> str:
    """Raises LinkUseless."""
    with platform.sessions() as session:
        row = links.find(session, LinkPurpose.RESET, key)
        return session.get_one(UserRow, row.user_id).name


def use(platform: Platform, key: str, new: str) -> User:
    """Ends sessions, tokens and other links. Raises LinkUseless, BadRequest, which keeps the link."""
    account_name(platform, key)  # before the cost of a hash
    hashed = hash_password(new)
    with writing(platform.sessions) as session:
        link = links.use(session, LinkPurpose.RESET, key)
        row = session.get(UserRow, link.user_id)
        if row is None:
            raise LinkUseless
        put_password(session, row, hashed)
    return of_row(row)
