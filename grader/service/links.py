"""Links that work once: to set a password, to prove an address, to make the first admin."""

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
from grader.service.keys import digest, new_key
from grader.settings import Settings


class Purpose(StrEnum):
    RESET = "reset"
    SIGN_UP = "sign_up"
    EMAIL = "email"
    FIRST_ADMIN = "first_admin"


_PATHS = {
    Purpose.RESET: "/reset",
    Purpose.SIGN_UP: "/sign-up",
    Purpose.EMAIL: "/account/email",
    Purpose.FIRST_ADMIN: "/setup",
}
LIVES = {
    Purpose.RESET: timedelta(minutes=limits.RESET_MINUTES),
    Purpose.SIGN_UP: timedelta(hours=limits.PROOF_HOURS),
    Purpose.EMAIL: timedelta(hours=limits.PROOF_HOURS),
    Purpose.FIRST_ADMIN: timedelta(hours=limits.FIRST_ADMIN_HOURS),
}


@dataclass(frozen=True)
class Link:
    """A link as it is shown this once: where it leads on the platform, and when it ends (UTC)."""

    path: str
    expires_at: datetime

    def at(self, base: str) -> str:
        """The whole address; ``base`` is the platform's."""
        return base + self.path


class LinkUseless(BadRequest):
    """Used, too old, or never given. All read the same."""

    code = "link_useless"

    def __init__(self, hint: str = "Ask for a new one.") -> None:
        super().__init__("This link does not work (any more).", hint)


def base_url(settings: Settings) -> str:
    """The address that people open: the settings' own, else where the web listens."""
    if settings.url:
        return settings.url
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{settings.port}"


def issue(
    session: Session, purpose: Purpose, *, user_id: int | None = None, email: str | None = None
) -> Link:
    """A new link; earlier ones for the same go on working until one of them is used."""
    key = new_key()
    now = utcnow()
    session.execute(delete(LinkRow).where(LinkRow.expires_at <= now - LIVES[Purpose.RESET]))
    row = LinkRow(
        purpose=purpose.value,
        sha256=digest(key),
        user_id=user_id,
        email=email,
        expires_at=now + LIVES[purpose],
    )
    session.add(row)
    # In the query and not in the path, which is what logs usually keep.
    return Link(f"{_PATHS[purpose]}?{urlencode({'key': key})}", row.expires_at)


def issued_lately(
    session: Session, purpose: Purpose, *, user_id: int | None = None, email: str | None = None
) -> int:
    """How many were made for that user or address within the last hour."""
    whose = LinkRow.user_id == user_id if user_id is not None else LinkRow.email == email
    since = utcnow() - timedelta(hours=1)
    statement = select(func.count()).where(
        whose, LinkRow.purpose == purpose.value, LinkRow.created_at > since
    )
    return session.scalar(statement) or 0


def find(session: Session, purpose: Purpose, key: str) -> LinkRow:
    """The link of that key, which stays unused. Raises LinkUseless."""
    row = session.scalar(select(LinkRow).where(*_usable(purpose, key)))
    if row is None:
        raise LinkUseless
    return row


def use(session: Session, purpose: Purpose, key: str) -> LinkRow:
    """The link of that key, which is used up with this transaction, whoever else tries it. Raises LinkUseless."""
    row = find(session, purpose, key)
    spend = update(LinkRow).where(LinkRow.id == row.id, LinkRow.used_at.is_(None)).values(used_at=utcnow())
    if not changed(session, spend):
        raise LinkUseless
    return row


def _usable(purpose: Purpose, key: str) -> tuple[ColumnElement[bool], ...]:
    return (
        LinkRow.sha256 == digest(key),
        LinkRow.purpose == purpose.value,
        LinkRow.used_at.is_(None),
        LinkRow.expires_at > utcnow(),
    )
