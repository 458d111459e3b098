"""Links that work once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from urllib.parse import urlencode

from sqlalchemy import ColumnElement, delete, func, select, update
from sqlalchemy.orm import Session

from grader import limits
from grader.errors import BadRequest
from grader.records.engine import changed
from grader.records.models import LinkRow, utcnow
from grader.service.accounts.keys import digest, new_key
from grader.settings import Settings


class LinkPurpose(StrEnum):
    RESET = "reset"
    SIGN_UP = "sign_up"
    EMAIL = "email"
    FIRST_ADMIN = "first_admin"


_PATHS = {
    LinkPurpose.RESET: "/reset",
    LinkPurpose.SIGN_UP: "/sign-up",
    LinkPurpose.EMAIL: "/account/email",
    LinkPurpose.FIRST_ADMIN: "/setup",
}
LIVES = {
    LinkPurpose.RESET: timedelta(minutes=limits.RESET_MINUTES),
    LinkPurpose.SIGN_UP: timedelta(hours=limits.PROOF_HOURS),
    LinkPurpose.EMAIL: timedelta(hours=limits.PROOF_HOURS),
    LinkPurpose.FIRST_ADMIN: timedelta(hours=limits.FIRST_ADMIN_HOURS),
}
# Unique among this database's locks.
_MAIL_LOCK = 7_212_047


@dataclass(frozen=True)
class AccountLink:
    """Shown once; ``expires_at`` is UTC."""

    path: str
    expires_at: datetime

    def at(self, base: str) -> str:
        """``base``: the platform's URL."""
        return base + self.path


class LinkUseless(BadRequest):
    """Used, expired and unknown links read alike."""

    code = "link_useless"

    def __init__(self, hint: str = "Ask for a new one.") -> None:
        super().__init__("This link or code does not work or has expired.", hint)


def base_url(settings: Settings) -> str:
    if settings.url:
        return settings.url
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{settings.port}"


def issue(
    session: Session, purpose: LinkPurpose, *, user_id: int | None = None, email: str | None = None
) -> AccountLink:
    """Earlier links work until one is used."""
    key = new_key()
    now = utcnow()
    session.execute(delete(LinkRow).where(LinkRow.expires_at <= now - LIVES[LinkPurpose.RESET]))
    row = LinkRow(
        purpose=purpose.value,
        sha256=digest(key),
        user_id=user_id,
        email=email,
        expires_at=now + LIVES[purpose],
    )
    session.add(row)
    # A query, unlike a path, is rarely logged.
    return AccountLink(f"{_PATHS[purpose]}?{urlencode({'key': key})}", row.expires_at)


def too_many_lately(
    session: Session, purpose: LinkPurpose, *, email: str, user_id: int | None = None
) -> bool:
    """True if this hour's limit for the mailbox or the user is reached."""
    if session.get_bind().dialect.name == "postgresql":
        # Two would see the same count. SQLite's writers take turns anyway.
        session.execute(select(func.pg_advisory_xact_lock(_MAIL_LOCK)))
    since = utcnow() - timedelta(hours=1)
    of_late = select(func.count()).where(LinkRow.purpose == purpose.value, LinkRow.created_at > since)
    counted = [_in_mailbox(email), *([LinkRow.user_id == user_id] if user_id is not None else [])]
    return any((session.scalar(of_late.where(each)) or 0) >= limits.MAILS_PER_HOUR for each in counted)


def _in_mailbox(email: str) -> ColumnElement[bool]:
    """Ignores case and anything after ``+``, as most servers do. SQL's ``lower`` needs ASCII."""
    local, _, domain = email.lower().rpartition("@")
    base = local.partition("+")[0]
    kept = func.lower(LinkRow.email)
    return (kept == f"{base}@{domain}") | (
        kept.startswith(f"{base}+", autoescape=True) & kept.endswith(f"@{domain}", autoescape=True)
    )


def find(session: Session, purpose: LinkPurpose, key: str) -> LinkRow:
    """Raises LinkUseless."""
    row = session.scalar(select(LinkRow).where(*_usable(purpose, key)))
    if row is None:
        raise LinkUseless
    return row


def use(session: Session, purpose: LinkPurpose, key: str) -> LinkRow:
    """Safe against concurrent use. Raises LinkUseless."""
    row = find(session, purpose, key)
    spend = update(LinkRow).where(LinkRow.id == row.id, LinkRow.used_at.is_(None)).values(used_at=utcnow())
    if not changed(session, spend):
        raise LinkUseless
    return row


def _usable(purpose: LinkPurpose, key: str) -> tuple[ColumnElement[bool], ...]:
    return (
        LinkRow.sha256 == digest(key),
        LinkRow.purpose == purpose.value,
        LinkRow.used_at.is_(None),
        LinkRow.expires_at > utcnow(),
    )
