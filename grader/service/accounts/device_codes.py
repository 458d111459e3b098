"""Signs in a command line by a short code that the user types (RFC 8628)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from grader import limits
from grader.errors import (
    AccessDenied,
    AuthorizationPending,
    ExpiredToken,
    NotFound,
    SlowDown,
    TooMany,
)
from grader.records.engine import changed, writing
from grader.records.models import DeviceCodeRow, UserRow, utcnow
from grader.schemas.token import DeviceCode, DeviceCodeBody, Scope
from grader.service.accounts import tokens
from grader.service.accounts.accounts import User, of_row
from grader.service.accounts.keys import digest, new_code, new_key, tidy_code
from grader.service.accounts.tokens import Issued, TokenRequest
from grader.service.platform import Platform

_PREFIX = "grdc_"
_LIFE = timedelta(minutes=limits.DEVICE_CODE_MINUTES)
# RFC 8628, section 3.5.
_SLOWER_SECONDS = 5
_GONE = ("This code is not valid or has expired.", "Get a new one: `grader login`.")


@dataclass(frozen=True)
class PendingApproval:
    """``granted``: ``scopes`` that the account can give."""

    code: str
    label: str
    address: str
    scopes: list[Scope]
    granted: list[Scope]
    days: int
    created_at: datetime
    per_day: int | None = None
    at_once: int | None = None


def begin(platform: Platform, body: DeviceCodeBody, address: str, base: str) -> DeviceCode:
    """``address``: the program's; ``base``: the platform's URL. Raises BadRequest (lifetime too long), TooMany."""
    tokens.check_lifetime(platform, timedelta(days=body.days) if body.days else None)
    device, code, now = new_key(_PREFIX), new_code(), utcnow()
    with writing(platform.sessions) as session:
        session.execute(delete(DeviceCodeRow).where(DeviceCodeRow.expires_at <= now))
        if (session.scalar(select(func.count(DeviceCodeRow.id))) or 0) >= limits.DEVICE_CODES_WAITING:
            raise TooMany("Too many sign-ins are waiting for approval.", "Try again in ten minutes.")
        session.add(
            DeviceCodeRow(
                device_sha256=digest(device),
                user_sha256=digest(code),
                label=body.label,
                scopes=tokens.join(body.scopes),
                days=body.days,
                per_day=body.per_day,
                at_once=body.at_once,
                address=address[: limits.ADDRESS_CHARS],
                interval=limits.DEVICE_POLL_SECONDS,
                expires_at=now + _LIFE,
            )
        )
    return DeviceCode(
        device_code=device,
        user_code=code,
        verification_uri=f"{base}/device",
        verification_uri_complete=f"{base}/device?code={code}",
        expires_in=int(_LIFE.total_seconds()),
        interval=limits.DEVICE_POLL_SECONDS,
    )


def find_pending(platform: Platform, user: User, typed: str) -> PendingApproval:
    """Raises NotFound."""
    code = tidy_code(typed)
    with platform.sessions() as session:
        row = _waiting(session, code)
    scopes = tokens.split(row.scopes)
    allowed = tokens.may_have(user)
    return PendingApproval(
        code=code,
        label=row.label,
        address=row.address,
        scopes=scopes,
        granted=[scope for scope in scopes if scope in allowed],
        days=row.days or platform.settings.token_days,
        created_at=row.created_at,
        per_day=row.per_day,
        at_once=row.at_once,
    )


def decide(platform: Platform, user: User, typed: str, approve: bool) -> None:
    """Raises NotFound."""
    with writing(platform.sessions) as session:
        row = _waiting(session, tidy_code(typed))
        decided = (
            update(DeviceCodeRow)
            .where(DeviceCodeRow.id == row.id, DeviceCodeRow.state == "pending")
            .values(state="approved" if approve else "denied", user_id=user.id)
            .execution_options(synchronize_session=False)
        )
        if not changed(session, decided):
            raise NotFound(*_GONE)


def poll(platform: Platform, device: str) -> tuple[User, Issued]:
    """Raises AuthorizationPending, SlowDown, AccessDenied, ExpiredToken."""
    now = utcnow()
    with writing(platform.sessions) as session:
        row = session.scalar(
            select(DeviceCodeRow).where(DeviceCodeRow.device_sha256 == digest(device)).with_for_update()
        )
        if row is None or row.expires_at <= now:
            raise ExpiredToken(*_GONE)
        if row.state == "pending":
            too_soon = _too_soon(row, now)
            row.polled_at = now
            row.interval += _SLOWER_SECONDS if too_soon else 0
        else:
            session.delete(row)  # each code is answered once
        if row.state == "approved":
            return _take(platform, session, row)
        denied = row.state == "denied"
        interval = row.interval
    if denied:
        raise AccessDenied(
            "The sign-in was denied in the browser.",
            "If you did not mean to deny it, run `grader login` again.",
        )
    if too_soon:
        raise SlowDown("The program asked again too soon.", f"Wait {interval} s between requests.")
    raise AuthorizationPending("Nobody has approved the code yet.", "Open the page and type the code.")


def _take(platform: Platform, session: Session, row: DeviceCodeRow) -> tuple[User, Issued]:
    user = of_row(session.get_one(UserRow, row.user_id))
    lifetime = tokens.check_lifetime(platform, timedelta(days=row.days) if row.days else None)
    allowed = tokens.may_have(user)
    scopes = [scope for scope in tokens.split(row.scopes) if scope in allowed]
    wish = TokenRequest(row.label, address=row.address, per_day=row.per_day, at_once=row.at_once)
    return user, tokens.add(session, user, wish, lifetime, scopes)


def _too_soon(row: DeviceCodeRow, now: datetime) -> bool:
    # One second of tolerance for network delays.
    return row.polled_at is not None and (now - row.polled_at).total_seconds() < row.interval - 1


def _waiting(session: Session, code: str) -> DeviceCodeRow:
    row = session.scalar(
        select(DeviceCodeRow).where(
            DeviceCodeRow.user_sha256 == digest(code),
            DeviceCodeRow.state == "pending",
            DeviceCodeRow.expires_at > utcnow(),
        )
    )
    if row is None:
        raise NotFound(*_GONE)
    return row
