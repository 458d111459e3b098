"""API tokens, and those of browsers' sessions: made, found again by their hash, listed and ended."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from sqlalchemy import delete, select, update
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from grader import limits
from grader.errors import BadRequest, NotFound, NotSignedIn
from grader.records.engine import changed, writing
from grader.records.models import TokenRow, UserRow, utcnow
from grader.schemas.token import KeptToken, TokenList
from grader.service.accounts import User, of_row
from grader.service.platform import Platform

log = structlog.get_logger(__name__)

_PREFIX = "grd_"  # so that secret scanners know our tokens
# What the column can hold; a database asked for more is in error.
_LARGEST_NUMBER = 2**31 - 1


@dataclass(frozen=True)
class Issued:
    """A new token as it is shown this once, and when it ends (UTC)."""

    token: str
    expires_at: datetime


def issue_token(
    platform: Platform, user: User, label: str = "cli", lifetime: timedelta | None = None
) -> Issued:
    """A new token, of which only a hash is kept. It lives as long as the settings allow, or for ``lifetime``.

    Raises BadRequest where ``lifetime`` is longer than the settings allow.
    """
    most = timedelta(days=platform.settings.token_days)
    if lifetime is not None and lifetime > most:
        raise BadRequest(
            f"A token lives {most.days} days at most here.", "Ask for fewer, or leave the number out."
        )
    issued = Issued(_PREFIX + secrets.token_urlsafe(32), utcnow() + (lifetime or most))
    with writing(platform.sessions) as session:
        _forget_ended(session, user)
        session.add(
            TokenRow(
                user_id=user.id,
                sha256=_digest(issued.token),
                label=label[: limits.NAME_CHARS],
                expires_at=issued.expires_at,
            )
        )
    return issued


def user_of_token(platform: Platform, token: str) -> User:
    """Raises NotSignedIn where the token was never issued, was revoked, or has ended."""
    with platform.sessions() as session:
        # Found by its hash: how long the search takes tells of the hash's first letters, and nothing of the token.
        found = session.execute(
            select(TokenRow, UserRow)
            .join(UserRow, TokenRow.user_id == UserRow.id)
            .where(TokenRow.sha256 == _digest(token))
        ).one_or_none()
    if found is None:
        raise NotSignedIn("This token is not valid.", "`grader login` gets a new one.")
    row, user = found
    now = utcnow()
    if row.expires_at <= now:
        raise NotSignedIn("This token has ended.", "`grader login` gets a new one.")
    if row.last_used_at is None or (now - row.last_used_at).total_seconds() > limits.TOKEN_USE_SECONDS:
        _note_use(platform, row.id, now)
    return of_row(user)


def list_tokens(platform: Platform, user: User, current: str = "") -> TokenList:
    """The user's tokens that have not ended, the newest first; ``current`` is the one that asks."""
    with platform.sessions() as session:
        rows = session.scalars(
            select(TokenRow)
            .where(TokenRow.user_id == user.id, TokenRow.expires_at > utcnow())
            .order_by(TokenRow.id.desc())
        ).all()
    mine = _digest(current)
    return TokenList(
        tokens=[
            KeptToken(
                id=row.id,
                label=row.label,
                created_at=row.created_at,
                last_used_at=row.last_used_at,
                expires_at=row.expires_at,
                current=row.sha256 == mine,
            )
            for row in rows
        ]
    )


def revoke_token(platform: Platform, token: str) -> None:
    """End a token. Harmless where it is not known."""
    with writing(platform.sessions) as session:
        session.execute(delete(TokenRow).where(TokenRow.sha256 == _digest(token)))


def revoke_own(platform: Platform, user: User, number: int) -> None:
    """End one of the user's tokens by its number. Raises NotFound, also for what belongs to someone else."""
    with writing(platform.sessions) as session:
        statement = delete(TokenRow).where(TokenRow.id == number, TokenRow.user_id == user.id)
        if number > _LARGEST_NUMBER or not changed(session, statement):
            raise NotFound(f"You have no token {number}.", "The page Account lists yours.")


def _forget_ended(session: Session, user: User) -> None:
    session.execute(delete(TokenRow).where(TokenRow.user_id == user.id, TokenRow.expires_at <= utcnow()))


def _note_use(platform: Platform, number: int, now: datetime) -> None:
    try:
        with writing(platform.sessions) as session:
            session.execute(update(TokenRow).where(TokenRow.id == number).values(last_used_at=now))
    except OperationalError:  # reading goes on where nothing can be written, such as on a full disk
        log.warning("token_use_not_noted")


def _digest(token: str) -> str:
    # A token has 256 random bits: a plain hash cannot be searched through, so no slow one is needed.
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
