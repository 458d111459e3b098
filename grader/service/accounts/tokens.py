"""API tokens, and those of browsers' sessions: made, found again by their hash, listed and ended."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import delete, select, update
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from grader import limits
from grader.errors import BadRequest, NotAllowed, NotFound, NotSignedIn
from grader.logs import get_logger
from grader.records.engine import changed, writing
from grader.records.models import TokenRow, UserRow, utcnow
from grader.schemas.account import STAFF_ROLES
from grader.schemas.token import ALL_SCOPES, KeptToken, Scope, TokenList
from grader.service.accounts.accounts import User, of_row
from grader.service.accounts.keys import digest, new_key
from grader.service.platform import Platform

log = get_logger(__name__)

_PREFIX = "grd_"  # so that secret scanners know our tokens
# What the column can hold; a database asked for more is in error.
_LARGEST_NUMBER = 2**31 - 1


class TokenKind(StrEnum):
    API = "api"
    SESSION = "session"


@dataclass(frozen=True)
class TokenRequest:
    """What a new token is to be: ``lifetime`` None is as long as the settings allow, ``scopes`` None is all that the
    account may have; ``address`` is where it is asked for from.
    """

    label: str = "cli"
    lifetime: timedelta | None = None
    scopes: Iterable[Scope] | None = None
    kind: TokenKind = TokenKind.API
    address: str = ""


@dataclass(frozen=True)
class Issued:
    """A new token as it is shown this once, and when it ends (UTC)."""

    token: str
    expires_at: datetime
    scopes: list[Scope] = field(default_factory=list)


def issue_token(
    platform: Platform, user: User, label: str = "cli", lifetime: timedelta | None = None
) -> Issued:
    """A new token with all that the account may have, of which only a hash is kept.

    Raises BadRequest where ``lifetime`` is longer than the settings allow.
    """
    return issue(platform, user, TokenRequest(label, lifetime))


def issue(platform: Platform, user: User, wish: TokenRequest) -> Issued:
    """A new token. Raises BadRequest (``lifetime``), NotAllowed (a scope that is not the account's to give)."""
    scopes = _granted(user, wish.scopes)
    lifetime = check_lifetime(platform, wish.lifetime)
    with writing(platform.sessions) as session:
        return add(session, user, wish, lifetime, scopes)


def add(session: Session, user: User, wish: TokenRequest, lifetime: timedelta, scopes: list[Scope]) -> Issued:
    """The same within a transaction, of what was checked before."""
    _forget_ended(session, user)
    issued = Issued(new_key(_PREFIX), utcnow() + lifetime, scopes)
    session.add(
        TokenRow(
            user_id=user.id,
            sha256=digest(issued.token),
            label=wish.label[: limits.NAME_CHARS],
            expires_at=issued.expires_at,
            kind=wish.kind.value,
            scopes=join(scopes),
            address=wish.address[: limits.ADDRESS_CHARS],
        )
    )
    return issued


def check_lifetime(platform: Platform, lifetime: timedelta | None) -> timedelta:
    """How long a token will live. Raises BadRequest where that is longer than the settings allow."""
    most = timedelta(days=platform.settings.token_days)
    if lifetime is not None and lifetime > most:
        raise BadRequest(
            f"A token lives {most.days} days at most here.", "Ask for fewer, or leave the number out."
        )
    return lifetime or most


def may_have(user: User) -> list[Scope]:
    """What a token of that account can be good for."""
    of_staff = user.role in STAFF_ROLES or user.teaches
    return [scope for scope in ALL_SCOPES if scope is not Scope.STAFF or of_staff]


def join(scopes: Iterable[Scope]) -> str:
    """Scopes as they are stored: once each, in their order."""
    wanted = set(scopes)
    return " ".join(scope.value for scope in ALL_SCOPES if scope in wanted)


def split(stored: str) -> list[Scope]:
    """Scopes that were stored; what this version does not know gives no right."""
    known = set(stored.split())
    return [scope for scope in ALL_SCOPES if scope.value in known]


def user_of_token(platform: Platform, token: str) -> User:
    """Who the token speaks for, with its scopes. Raises NotSignedIn where it was never issued, was revoked, or has
    ended.
    """
    with platform.sessions() as session:
        found = session.execute(
            select(TokenRow, UserRow)
            .join(UserRow, TokenRow.user_id == UserRow.id)
            .where(TokenRow.sha256 == digest(token))
        ).one_or_none()
    if found is None:
        raise NotSignedIn("This token is not valid.", "`grader login` gets a new one.")
    row, user = found
    now = utcnow()
    if row.expires_at <= now:
        raise NotSignedIn("This token has ended.", "`grader login` gets a new one.")
    if row.last_used_at is None or (now - row.last_used_at).total_seconds() > limits.TOKEN_USE_SECONDS:
        _note_use(platform, row.id, now)
    known = of_row(user, frozenset(split(row.scopes)))
    # A session has all that its account may have, also what was given to the account since it began.
    return replace(known, scopes=frozenset(may_have(known))) if row.kind == TokenKind.SESSION.value else known


def list_tokens(platform: Platform, user: User, current: str = "") -> TokenList:
    """The user's tokens and sessions that have not ended, the newest first; ``current`` is the one that asks."""
    with platform.sessions() as session:
        rows = session.scalars(
            select(TokenRow)
            .where(TokenRow.user_id == user.id, TokenRow.expires_at > utcnow())
            .order_by(TokenRow.id.desc())
        ).all()
    mine = digest(current)
    return TokenList(
        tokens=[
            KeptToken(
                id=row.id,
                label=row.label,
                kind=row.kind,
                scopes=split(row.scopes),
                address=row.address,
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
        session.execute(delete(TokenRow).where(TokenRow.sha256 == digest(token)))


def revoke_own(platform: Platform, user: User, number: int) -> None:
    """End one of the user's tokens by its number. Raises NotFound, also for what belongs to someone else."""
    with writing(platform.sessions) as session:
        statement = delete(TokenRow).where(TokenRow.id == number, TokenRow.user_id == user.id)
        if number > _LARGEST_NUMBER or not changed(session, statement):
            raise NotFound(f"You have no token {number}.", "The page Account lists yours.")


def end_sessions(platform: Platform, user: User, current: str) -> int:
    """End every session of the user but ``current``; tokens of programs go on. How many ended."""
    with writing(platform.sessions) as session:
        return changed(
            session,
            delete(TokenRow).where(
                TokenRow.user_id == user.id,
                TokenRow.kind == TokenKind.SESSION.value,
                TokenRow.sha256 != digest(current),
            ),
        )


def _granted(user: User, wanted: Iterable[Scope] | None) -> list[Scope]:
    allowed = may_have(user)
    if wanted is None:
        return allowed
    chosen = set(wanted)
    if missing := chosen - set(allowed):
        raise NotAllowed(
            f"Your account cannot give the scope '{min(missing)}'.", f"It can give: {join(allowed)}."
        )
    return [scope for scope in allowed if scope in chosen]


def _forget_ended(session: Session, user: User) -> None:
    session.execute(delete(TokenRow).where(TokenRow.user_id == user.id, TokenRow.expires_at <= utcnow()))


def _note_use(platform: Platform, number: int, now: datetime) -> None:
    try:
        with writing(platform.sessions) as session:
            session.execute(update(TokenRow).where(TokenRow.id == number).values(last_used_at=now))
    except OperationalError:  # reading continues where nothing can be written, such as on a full disk
        log.warning("token_use_not_noted")
