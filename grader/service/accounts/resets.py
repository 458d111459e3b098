"""New passwords for who forgot theirs: by a link that works once."""

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

# The same for every name: it does not reveal who has an account.
ANSWER = "If that account is here and has an e-mail address, a link is on its way to it. It works once, for an hour."
_TEXT = """\
Hello {name},

somebody, most likely you, asked for a new password of your account. This sets one:

{link}

The link works once, until {until:%Y-%m-%d %H:%M} UTC. If it was not you, do nothing: your password stays as it is.
"""


def ask(platform: Platform, name: str) -> None:
    """Mail a link to the account of that name or address, if there is one. All is done behind the answer, so that all
    names take the same time.

    Raises Conflict where this platform sends no mail.
    """
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
    # A name holds no "@": no name can stand in for somebody's address.
    return select(UserRow).where(
        or_(UserRow.name_key == name_key(name), UserRow.email_key == key) if name else UserRow.id.is_(None)
    )


def make_link(platform: Platform, name: str) -> AccountLink:
    """For who runs the platform: a link to hand over. Raises NotFound, Conflict (it was deleted)."""
    with writing(platform.sessions) as session:
        row = find_row(session, name)
        check_not_deleted(row)
        return links.issue(session, LinkPurpose.RESET, user_id=row.id)


def make_link_as(platform: Platform, user: User, name: str) -> AccountLink:
    """For staff: a link for a student. For one of the staff an admin has to make it, or staff could take over an admin.

    Raises NotAllowed, NotFound, Conflict (it was deleted).
    """
    check_staff(user)
    with writing(platform.sessions) as session:
        row = find_row(session, name)
        check_not_deleted(row)
        if Role(row.role) in STAFF_ROLES and not user.admin:
            raise NotAllowed("A link for staff is made by an admin.", "Ask an admin.")
        audit.note(session, user, Action.PERSON_RESET, f"/people/{row.name}/password-reset")
        return links.issue(session, LinkPurpose.RESET, user_id=row.id)


def whose(platform: Platform, key: str) -> str:
    """The name of the account that the link is for. Raises LinkUseless."""
    with platform.sessions() as session:
        row = links.find(session, LinkPurpose.RESET, key)
        return session.get_one(UserRow, row.user_id).name


def use(platform: Platform, key: str, new: str) -> User:
    """Set the password of the link's account, and end its sessions and tokens and every other link.

    Raises LinkUseless, and BadRequest where the password cannot be used; the link is still good then.
    """
    whose(platform, key)  # before a hash is paid for
    hashed = hash_password(new)
    with writing(platform.sessions) as session:
        link = links.use(session, LinkPurpose.RESET, key)
        row = session.get(UserRow, link.user_id)
        if row is None:
            raise LinkUseless
        put_password(session, row, hashed)
    return of_row(row)
