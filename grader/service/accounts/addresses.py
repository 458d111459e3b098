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

this link confirms your e-mail address for your account:

{link}

The link works once, until {until:%Y-%m-%d %H:%M} UTC. If you did not ask for it, ignore this message.
"""


def tidy(email: str) -> str:
    """Raises BadRequest if it is not an address."""
    try:
        found = validate_email(email.strip(), check_deliverability=False)
    except EmailNotValidError as error:
        raise BadRequest("This is not an e-mail address.", str(error)) from error
    # Most servers lack SMTPUTF8: the mail would come back.
    if found.ascii_email is None:
        raise BadRequest("This e-mail address cannot be used.", "Use an address of plain letters and digits.")
    return found.ascii_email


def within(email: str, domains: Sequence[str]) -> bool:
    """A domain with a leading dot includes its subdomains."""
    domain = email.rpartition("@")[2].lower()
    return any(
        domain.endswith(allowed) if allowed.startswith(".") else domain == allowed for allowed in domains
    )


def owner(platform: Platform, email: str) -> User | None:
    with platform.sessions() as session:
        row = session.scalar(select(UserRow).where(UserRow.email_key == email.lower()))
    return of_row(row) if row else None


def ask_for_proof(platform: Platform, user: User, email: str) -> None:
    """Mails a link, but nothing if another account has the address, and reveals nothing. Raises BadRequest, Conflict
    (no mail here)."""
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
    """Raises LinkUseless, also for a link of another account."""
    with writing(platform.sessions) as session:
        row = links.use(session, LinkPurpose.EMAIL, key)
        if row.user_id != user.id or row.email is None:
            raise LinkUseless("Sign in to the account that asked for this link.")
        holder = session.scalar(select(UserRow).where(UserRow.email_key == row.email.lower()))
        if holder is not None and holder.id != user.id:
            raise Conflict(
                "An account with this e-mail address exists already.",
                "Sign in to it, or use another address.",
            )
        person = session.get_one(UserRow, user.id)
        person.email, person.email_key = row.email, row.email.lower()
        person.email_by = EmailBy.OWNER.value
        return row.email


def set_address(platform: Platform, name: str, email: str | None) -> User:
    """For operators, without a proof. Raises NotFound, BadRequest, Conflict."""
    wanted = tidy(email) if email else None
    if wanted and (holder := owner(platform, wanted)) and holder.name.lower() != name.lower():
        raise Conflict(f"This e-mail address belongs to '{holder.name}'.")
    with writing(platform.sessions) as session:
        row = find_row(session, name)
        row.email, row.email_key = wanted, wanted.lower() if wanted else None
        row.email_by = EmailBy.ADMIN.value if wanted else ""
    return of_row(row)


def forget(platform: Platform, user: User) -> None:
    set_address(platform, user.name, None)


def address_of(platform: Platform, user: User) -> str | None:
    with platform.sessions() as session:
        return session.scalar(select(UserRow.email).where(UserRow.id == user.id))
