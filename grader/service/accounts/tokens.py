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
from grader.records import budgets
from grader.records.engine import changed, writing
from grader.records.models import TokenRow, UserRow, utcnow
from grader.schemas.account import STAFF_ROLES
from grader.schemas.token import ALL_SCOPES, KeptToken, Scope, TokenList
from grader.service.accounts.accounts import TokenUse, User, of_row
from grader.service.accounts.keys import digest, new_key
from grader.service.platform import Platform

log = get_logger(__name__)

_PREFIX = "grd_"  # so secret scanners recognise our tokens
# The column's range.
_LARGEST_NUMBER = 2**31 - 1


class TokenKind(StrEnum):
    API = "api"
    SESSION = "session"


@dataclass(frozen=True)
class TokenRequest:
    """``lifetime`` None: the longest; ``scopes`` None: all; ``address``: the requester's; ``per_day``, ``at_once``
    None: no limits of its own."""

    label: str = "cli"
    lifetime: timedelta | None = None
    scopes: Iterable[Scope] | None = None
    kind: TokenKind = TokenKind.API
    address: str = ""
    per_day: int | None = None
    at_once: int | None = None


@dataclass(frozen=True)
class Issued:
    """Shown once; the end is UTC."""

    token: str
    expires_at: datetime
    scopes: list[Scope] = field(default_factory=list)


def issue_token(
    platform: Platform, user: User, label: str = "cli", lifetime: timedelta | None = None
) -> Issued:
    """With all scopes. Raises BadRequest (``lifetime``)."""
    return issue(platform, user, TokenRequest(label, lifetime))


def issue(platform: Platform, user: User, wish: TokenRequest) -> Issued:
    """Raises BadRequest (``lifetime``), NotAllowed (scopes)."""
    scopes = _granted(user, wish.scopes)
    lifetime = check_lifetime(platform, wish.lifetime)
    with writing(platform.sessions) as session:
        return add(session, user, wish, lifetime, scopes)


def add(session: Session, user: User, wish: TokenRequest, lifetime: timedelta, scopes: list[Scope]) -> Issued:
    """The caller has checked the arguments."""
    _forget_ended(session, user)
    issued = Issued(new_key(_PREFIX), utcnow() + lifetime, scopes)
    session.add(
        TokenRow(
            id=budgets.unused_token_id(session),
            user_id=user.id,
            sha256=digest(issued.token),
            label=wish.label[: limits.NAME_CHARS],
            expires_at=issued.expires_at,
            kind=wish.kind.value,
            scopes=join(scopes),
            address=wish.address[: limits.ADDRESS_CHARS],
            per_day=wish.per_day,
            at_once=wish.at_once,
        )
    )
    return issued


def check_lifetime(platform: Platform, lifetime: timedelta | None) -> timedelta:
    """Raises BadRequest (too long)."""
    most = timedelta(days=platform.settings.token_days)
    if lifetime is not None and lifetime > most:
        raise BadRequest(
            f"Tokens on this platform last at most {most.days} days.",
            "Ask for fewer days, or leave the number out.",
        )
    return lifetime or most


def may_have(user: User) -> list[Scope]:
    of_staff = user.role in STAFF_ROLES or user.teaches
    return [scope for scope in ALL_SCOPES if scope is not Scope.STAFF or of_staff]


def join(scopes: Iterable[Scope]) -> str:
    """Unique and in order."""
    wanted = set(scopes)
    return " ".join(scope.value for scope in ALL_SCOPES if scope in wanted)


def split(stored: str) -> list[Scope]:
    """Ignores unknown ones."""
    known = set(stored.split())
    return [scope for scope in ALL_SCOPES if scope.value in known]


def user_of_token(platform: Platform, token: str) -> User:
    """Raises NotSignedIn."""
    with platform.sessions() as session:
        found = session.execute(
            select(TokenRow, UserRow)
            .join(UserRow, TokenRow.user_id == UserRow.id)
            .where(TokenRow.sha256 == digest(token))
        ).one_or_none()
    if found is None:
        raise NotSignedIn("This token is not valid.", "Get a new one: `grader login`.")
    row, user = found
    now = utcnow()
    if row.expires_at <= now:
        raise NotSignedIn("This token has expired.", "Get a new one: `grader login`.")
    if row.last_used_at is None or (now - row.last_used_at).total_seconds() > limits.TOKEN_USE_SECONDS:
        _note_use(platform, row.id, now)
    return _caller(row, user)


def _caller(row: TokenRow, user: UserRow) -> User:
    known = of_row(user, frozenset(split(row.scopes)))
    if row.kind == TokenKind.SESSION.value:
        # Includes scopes that the account got later.
        return replace(known, scopes=frozenset(may_have(known)))
    return replace(known, token=TokenUse(row.id, row.sha256, row.per_day, row.at_once))


def caller_later(session: Session, user: UserRow, sha256: str | None) -> User | None:
    """Who sent a call some time ago, by the token's hash; None if the token has ended. ``sha256`` None: a session,
    which need not last."""
    if sha256 is None:
        known = of_row(user)
        return replace(known, scopes=frozenset(may_have(known)))
    mine = (TokenRow.sha256 == sha256, TokenRow.user_id == user.id, TokenRow.expires_at > utcnow())
    row = session.scalar(select(TokenRow).where(*mine))
    return _caller(row, user) if row is not None and Scope.SUBMIT in split(row.scopes) else None


def list_tokens(platform: Platform, user: User, current: str = "") -> TokenList:
    """Newest first; ``current``: the requester's."""
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
                per_day=row.per_day,
                at_once=row.at_once,
                current=row.sha256 == mine,
            )
            for row in rows
        ]
    )


def revoke_token(platform: Platform, token: str) -> None:
    """An unknown token is not an error."""
    with writing(platform.sessions) as session:
        session.execute(delete(TokenRow).where(TokenRow.sha256 == digest(token)))


def revoke_own(platform: Platform, user: User, number: int) -> None:
    """Raises NotFound, also for somebody else's token."""
    with writing(platform.sessions) as session:
        statement = delete(TokenRow).where(TokenRow.id == number, TokenRow.user_id == user.id)
        if number > _LARGEST_NUMBER or not changed(session, statement):
            raise NotFound(f"You have no token {number}.", "The page Account lists your tokens.")


def end_sessions(platform: Platform, user: User, current: str) -> int:
    """Ends all but ``current`` and programs' tokens. Returns their number."""
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
            f"Your account does not have the scope '{min(missing)}'.", f"It has: {join(allowed)}."
        )
    return [scope for scope in allowed if scope in chosen]


def _forget_ended(session: Session, user: User) -> None:
    session.execute(delete(TokenRow).where(TokenRow.user_id == user.id, TokenRow.expires_at <= utcnow()))


def _note_use(platform: Platform, number: int, now: datetime) -> None:
    try:
        with writing(platform.sessions) as session:
            session.execute(update(TokenRow).where(TokenRow.id == number).values(last_used_at=now))
    except OperationalError:  # requests still work on a full disk
        log.warning("token_use_not_noted")
