"""Making one's own account, as far as ``GRADER_SIGN_UP`` lets one."""

from __future__ import annotations

from dataclasses import dataclass

from grader.errors import BadRequest, NotFound
from grader.records.engine import writing
from grader.schemas.account import EmailBy, Role, SignUpBody
from grader.service.accounts import addresses, invitations, links
from grader.service.accounts.accounts import User, add_row, new_row, of_row
from grader.service.accounts.links import LinkPurpose
from grader.service.courses import joining
from grader.service.messages import mail
from grader.service.platform import Platform

# A stranger of that name would be taken for somebody else. Who runs the platform may still make them.
RESERVED = frozenset({"admin", "administrator", "grader", "root", "staff", "system", "teacher"})
ANSWER = "If that address may sign up, a link is on its way to it. It works once, for a day."
_TEXT = """\
Hello,

this makes your account:

{link}

The link works once, until {until:%Y-%m-%d %H:%M} UTC. If you did not ask for it, do nothing.
"""
_KNOWN = """\
Hello {name},

somebody, most likely you, wanted to make an account with this address. It has one already, of the name {name}.
A new password, if you forgot yours: {url}/forgot
"""


@dataclass(frozen=True)
class Offer:
    """What somebody who opens the page may do: make an account (``role``, and ``email`` where a link proved it), or
    ask for a link by mail.
    """

    by_mail: bool = False
    role: Role = Role.STUDENT
    email: str | None = None
    label: str = ""


def offer(platform: Platform, key: str = "") -> Offer:
    """Raises NotFound where nobody (or nobody without an invitation) may sign up, LinkUseless."""
    policy = platform.settings.sign_up
    if policy == "closed":
        raise NotFound("Accounts are made by staff here.", "Ask them for one.")
    if key.startswith(invitations.PREFIX):
        found = invitations.of_key(platform, key)
        return Offer(role=Role(found.role), label=found.label)
    if key and joining.is_key(key):
        course = joining.offer(platform, key)
        return Offer(
            email=joining.proven_address(platform, key), label=f"{course.name} {course.term}".strip()
        )
    if key:
        with platform.sessions() as session:
            return Offer(email=links.find(session, LinkPurpose.SIGN_UP, key).email)
    if policy == "invite":
        raise NotFound("Accounts are made by invitation here.", "Open the link that you were given.")
    return Offer(by_mail=policy == "domain")


def sign_up(platform: Platform, body: SignUpBody) -> User:
    """A new account. One use of the key is taken in the same transaction, so none is lost to a name that is taken.

    Raises NotFound and LinkUseless as ``offer`` does, BadRequest (name, password), Conflict (the name is taken).
    """
    found = offer(platform, body.key)
    if found.by_mail:
        raise BadRequest("The address has to be proven first.", "Ask for the link by mail, and open it.")
    if body.name.lower() in RESERVED:
        raise BadRequest("That name is not free to be taken.", "Choose another name.")
    by = EmailBy.ROSTER if body.key and joining.is_key(body.key) else EmailBy.OWNER
    row = new_row(body.name, body.password, found.role, found.email, by)
    with writing(platform.sessions) as session:
        if body.key.startswith(invitations.PREFIX):
            invitation = invitations.use(session, body.key)
            row.role = invitation.role
            row.came_by = f"invitation {invitation.id}: {invitation.label}"
        elif body.key and not joining.is_key(body.key):
            links.use(session, LinkPurpose.SIGN_UP, body.key)
            row.came_by = "address"
        add_row(session, row)
        if joining.is_key(body.key):
            row.came_by = f"course {joining.enter(session, row.id, body.key).slug}"
    return of_row(row)


def ask_for_link(platform: Platform, email: str) -> None:
    """Mail a link that makes an account. Who has one already learns so by mail alone; an address of another domain is
    refused at once, for which are taken is no secret.

    Raises NotFound (not the policy here), BadRequest (no address, or not of such a domain).
    """
    if platform.settings.sign_up != "domain":
        raise NotFound("No links are mailed for signing up here.")
    to = addresses.tidy(email)
    domains = platform.settings.domains
    if not addresses.within(to, domains):
        raise BadRequest(
            "Addresses of that domain cannot sign up here.", f"Take one of: {', '.join(domains)}."
        )
    mail.later(lambda: _send(platform, to))


def _send(platform: Platform, to: str) -> None:
    base = links.base_url(platform.settings)
    known = addresses.owner(platform, to)
    with writing(platform.sessions) as session:
        if links.too_many_lately(session, LinkPurpose.SIGN_UP, email=to):
            return
        link = links.issue(session, LinkPurpose.SIGN_UP, email=to)
    text = _TEXT.format(link=link.at(base), until=link.expires_at)
    if known is not None:
        text = _KNOWN.format(name=known.name, url=base)
    mail.send(platform.settings, to, "Your account", text)
