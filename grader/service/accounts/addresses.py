"""E-mail addresses: written right, and proven by a link that only their owner can read."""

from __future__ import annotations

from collections.abc import Sequence

from email_validator import EmailNotValidError, validate_email
from sqlalchemy import select

from grader.errors import BadRequest, Conflict
from grader.records.engine import writing
from grader.records.models import UserRow
from grader.schemas.account import EmailBy
from grader.service.accounts import links
from grader.service.accounts.accounts import User, find_row, of_row
from grader.service.accounts.links import LinkPurpose, LinkUseless
from grader.service.messages import mail
from grader.service.platform import Platform

_PROOF = """\
Hello {name},

this proves that the address is yours, and makes it the one of your account:

{link}

The link works once, until {until:%Y-%m-%d %H:%M} UTC. If you did not ask for it, do nothing.
"""


def tidy(email: str) -> str:
    """The address as it is kept. Raises BadRequest where it cannot be one."""
    try:
        found = validate_email(email.strip(), check_deliverability=False)
    except EmailNotValidError as error:
        raise BadRequest("That is no e-mail address.", str(error)) from error
    # What a server would need the extension SMTPUTF8 for: most do not have it, and the mail would come back.
    if found.ascii_email is None:
        raise BadRequest("That e-mail address cannot be used.", "Take one of plain letters and digits.")
    return found.ascii_email


def within(email: str, domains: Sequence[str]) -> bool:
    """Whether the address is of one of the domains; one that begins with a dot takes all below it."""
    domain = email.rpartition("@")[2].lower()
    return any(domain.endswith(it) if it.startswith(".") else domain == it for it in domains)


def owner(platform: Platform, email: str) -> User | None:
    """Whose address it is."""
    with platform.sessions() as session:
        row = session.scalar(select(UserRow).where(UserRow.email_key == email.lower()))
    return of_row(row) if row else None


def ask_for_proof(platform: Platform, user: User, email: str) -> None:
    """Mail a link to the address, which becomes the user's once it is opened. Where the address is another's already,
    nothing is said of it, and nothing is sent.

    Raises BadRequest (no address), Conflict (this platform sends no mail).
    """
    to = tidy(email)
    mail.need(platform.settings)
    mail.later(lambda: _send_proof(platform, user, to))


def _send_proof(platform: Platform, user: User, to: str) -> None:
    if owner(platform, to) is not None:
        return
    with writing(platform.sessions) as session:
        if links.too_many_lately(session, LinkPurpose.EMAIL, email=to, user_id=user.id):
            return
        link = links.issue(session, LinkPurpose.EMAIL, user_id=user.id, email=to)
    text = _PROOF.format(
        name=user.name, link=link.at(links.base_url(platform.settings)), until=link.expires_at
    )
    mail.send(platform.settings, to, "Your e-mail address", text)


def prove(platform: Platform, user: User, key: str) -> str:
    """Use a link: the address is the user's from now on. Raises LinkUseless, also where it was sent to someone else's
    account.
    """
    with writing(platform.sessions) as session:
        row = links.use(session, LinkPurpose.EMAIL, key)
        if row.user_id != user.id or row.email is None:
            raise LinkUseless("Sign in to the account that asked for it.")
        holder = session.scalar(select(UserRow).where(UserRow.email_key == row.email.lower()))
        if holder is not None and holder.id != user.id:
            raise Conflict("That e-mail address has an account already.", "Sign in to it.")
        person = session.get_one(UserRow, user.id)
        person.email, person.email_key = row.email, row.email.lower()
        person.email_by = EmailBy.OWNER.value
        return row.email


def set_address(platform: Platform, name: str, email: str | None) -> User:
    """For who runs the platform: believed without a proof. Raises NotFound, BadRequest, Conflict."""
    wanted = tidy(email) if email else None
    if wanted and (holder := owner(platform, wanted)) and holder.name.lower() != name.lower():
        raise Conflict(f"That e-mail address is that of '{holder.name}'.")
    with writing(platform.sessions) as session:
        row = find_row(session, name)
        row.email, row.email_key = wanted, wanted.lower() if wanted else None
        row.email_by = EmailBy.ADMIN.value if wanted else ""
    return of_row(row)


def forget(platform: Platform, user: User) -> None:
    """Take the address off the account."""
    set_address(platform, user.name, None)


def address_of(platform: Platform, user: User) -> str | None:
    with platform.sessions() as session:
        return session.scalar(select(UserRow.email).where(UserRow.id == user.id))
