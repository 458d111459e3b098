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

# Strangers with such names would pass for officials.
RESERVED = frozenset({"admin", "administrator", "grader", "root", "staff", "system", "teacher"})
ANSWER = "If this address may sign up, we have sent it a link. It works once, within a day."
_TEXT = """\
Hello,

make your account here:

{link}

The link works once, until {until:%Y-%m-%d %H:%M} UTC. If you did not ask for it, ignore this message.
"""
_KNOWN = """\
Hello {name},

somebody, most likely you, tried to make an account with this address. You already have one, named {name}.
If you forgot the password: {url}/forgot
"""


@dataclass(frozen=True)
class Offer:
    """``email``: proved by a link."""

    by_mail: bool = False
    role: Role = Role.STUDENT
    email: str | None = None
    label: str = ""


def offer(platform: Platform, key: str = "") -> Offer:
    """Raises NotFound (forbidden here), LinkUseless."""
    policy = platform.settings.sign_up
    if policy == "closed":
        raise NotFound("Only staff can make accounts here.", "Ask them for one.")
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
        raise NotFound("You need an invitation to make an account here.", "Open the link in your invitation.")
    return Offer(by_mail=policy == "domain")


def sign_up(platform: Platform, body: SignUpBody) -> User:
    """In one transaction with the key's use, so a taken name wastes none. Raises NotFound, LinkUseless, BadRequest,
    Conflict."""
    found = offer(platform, body.key)
    if found.by_mail:
        raise BadRequest("Confirm your e-mail address first.", "Ask for the link by mail, and open it.")
    if body.name.lower() in RESERVED:
        raise BadRequest("This name is reserved.", "Choose another name.")
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
    """Only the mail says if the address has an account. Raises NotFound, BadRequest."""
    if platform.settings.sign_up != "domain":
        raise NotFound("This platform does not mail sign-up links.")
    to = addresses.tidy(email)
    domains = platform.settings.domains
    if not addresses.within(to, domains):
        raise BadRequest(
            "Addresses in that domain cannot sign up here.",
            f"Use an address in one of: {', '.join(domains)}.",
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
