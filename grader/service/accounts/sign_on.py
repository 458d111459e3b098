"""The account of somebody whom another site signs in: by the site's permanent id, by the verified address, or a new
one. An address opens only a student's account, if an admin or a roster set it. Teachers connect theirs with the
password."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from grader import limits
from grader.errors import BadRequest, Conflict, NotFound, SignOnFailed
from grader.logs import get_logger
from grader.records.engine import changed, writing
from grader.records.models import IdentityRow, UserRow, utcnow
from grader.schemas.account import EmailBy, IdentityView, Role
from grader.service.accounts import accounts, addresses
from grader.service.accounts.accounts import BY_OWNER, DELETED, User, find_row, of_row
from grader.service.accounts.oidc import Person
from grader.service.accounts.sign_up import RESERVED
from grader.service.courses import joining
from grader.service.platform import Platform

log = get_logger(__name__)

T = TypeVar("T")
BY_ACCOUNT, BY_ADDRESS = "account", "address"
_GIVEN_BY_STAFF = (EmailBy.ADMIN, EmailBy.ROSTER)
_NOT_OF_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")
# For names that are taken.
_NUMBERED = 100
_TRIES = 3


@dataclass(frozen=True)
class Policy:
    """``accounts``: as in ``OidcProvider``; no ``domains``: all."""

    accounts: Literal["none", "roster", "anyone"]
    domains: tuple[str, ...] = ()


def enter(platform: Platform, person: Person, policy: Policy) -> User:
    """Raises SignOnFailed with the reason."""
    return of_row(_whole(platform, lambda session: _enter(session, person, policy)))


def _enter(session: Session, person: Person, policy: Policy) -> UserRow:
    if policy.domains and (person.email is None or not addresses.within(person.email, policy.domains)):
        said = "no verified address" if person.email is None else "an address of another domain"
        raise SignOnFailed(
            f"{person.label} sent {said} for you.",
            f"Addresses in these domains may sign in: {', '.join(policy.domains)}.",
        )
    email = _tidy(person.email)
    row = _known(session, person) or _of_address(session, person, email)
    if row is None:
        row = _make(session, person, email, policy)
    if email is not None:
        joining.enter_invited(session, row.id, email)
    return row


def _whole(platform: Platform, work: Callable[[Session], T]) -> T:
    """Retries if a concurrent request takes the name or identity."""
    for _ in range(_TRIES):
        try:
            with writing(platform.sessions) as session:
                return work(session)
        except (IntegrityError, _Taken):
            continue
    raise SignOnFailed("Another request signed you in at the same moment.", "Try again.")


class _Taken(Exception):
    pass


def _tidy(email: str | None) -> str | None:
    try:
        return addresses.tidy(email) if email else None
    except BadRequest:  # no mail could reach it
        return None


def _known(session: Session, person: Person) -> UserRow | None:
    of_them = (IdentityRow.authority == person.authority, IdentityRow.subject == person.subject)
    found = session.scalar(select(IdentityRow).where(*of_them))
    if found is None:
        return None
    found.used_at = utcnow()
    return session.get_one(UserRow, found.user_id)


def _of_address(session: Session, person: Person, email: str | None) -> UserRow | None:
    """Raises SignOnFailed if the account needs its password."""
    if email is None:
        return None
    row = session.scalar(select(UserRow).where(UserRow.email_key == email.lower()))
    if row is None:
        return None
    student = row.role == Role.STUDENT and not row.teaches
    if row.email_by not in _GIVEN_BY_STAFF or not student:
        raise SignOnFailed(
            f"An account with the address {email} exists already.",
            f"Sign in with its password, then connect {person.label} on the page Settings.",
        )
    _add(session, row, person, BY_ADDRESS)
    log.info("identity_linked", user=row.id, authority=person.authority)
    return row


def _make(session: Session, person: Person, email: str | None, policy: Policy) -> UserRow:
    invited = email is not None and bool(joining.waiting_for(session, email))
    if policy.accounts == "none" or (policy.accounts == "roster" and not invited):
        raise SignOnFailed(
            f"{person.label} cannot open an account for you here."
            if policy.accounts == "none"
            else f"No course here expects {email or 'somebody without a verified address'}.",
            "If you have an account, sign in with its password and connect it on the page Settings. Otherwise ask your "
            "teacher.",
        )
    name = _free_name(session, person, email)
    by = EmailBy.ROSTER if invited else EmailBy.SIGN_ON
    row = accounts.new_row(name, secrets.token_urlsafe(), Role.STUDENT, email, by)
    row.came_by = f"sign-on by {person.label}"[: limits.TITLE_CHARS]
    try:
        accounts.add_row(session, row)
    except Conflict as error:
        raise _Taken from error
    _add(session, row, person, BY_ACCOUNT)
    log.info("account_made", user=row.id, authority=person.authority)
    return row


def _free_name(session: Session, person: Person, email: str | None) -> str:
    local = (email or "").partition("@")[0]
    room = limits.NAME_CHARS - 4
    wished = (
        _NOT_OF_A_NAME.sub("-", name.partition("@")[0]).strip("._-")[:room] for name in (person.name, local)
    )
    base = next(
        (name for name in wished if name and not name.lower().startswith(DELETED)),
        f"user-{secrets.token_hex(4)}",
    )
    names = [base, *(f"{base}-{number}" for number in range(2, _NUMBERED)), f"user-{secrets.token_hex(4)}"]
    keys = {name.lower() for name in names}
    taken = set(session.scalars(select(UserRow.name_key).where(UserRow.name_key.in_(keys)))) | RESERVED
    return next(name for name in names if name.lower() not in taken)


def _add(session: Session, row: UserRow, person: Person, came_by: str) -> None:
    identity = IdentityRow(
        user_id=row.id,
        authority=person.authority,
        subject=person.subject,
        label=person.label[: limits.NAME_CHARS],
        came_by=came_by,
        used_at=utcnow(),
    )
    session.add(identity)
    session.flush()


def connect(platform: Platform, user: User, person: Person) -> None:
    """The caller has checked the password. Raises Conflict."""

    def work(session: Session) -> None:
        row = session.get_one(UserRow, user.id)
        found = _known(session, person)
        if found is not None and found.id != row.id:
            raise Conflict(
                f"{person.label} is connected to another account here, '{found.name}'.",
                "Sign in to that account and disconnect it first.",
            )
        if found is None:
            _add(session, row, person, BY_OWNER)
            log.info("identity_connected", user=row.id, authority=person.authority)

    _whole(platform, work)


def identities(platform: Platform, user: User) -> list[IdentityView]:
    with platform.sessions() as session:
        return _views(session, user.id)


def identities_of(platform: Platform, name: str) -> list[IdentityView]:
    """For operators. Raises NotFound."""
    with platform.sessions() as session:
        return _views(session, find_row(session, name).id)


def disconnect(platform: Platform, user: User, number: int, password: str) -> None:
    """Needs a password, or nothing could open the account. Raises NotFound, NotAllowed."""
    accounts.check_password(platform, user, password)
    _remove(platform, user.id, number)


def remove(platform: Platform, name: str, number: int) -> None:
    """For operators. Raises NotFound."""
    with platform.sessions() as session:
        user = find_row(session, name).id
    _remove(platform, user, number)


def _remove(platform: Platform, user: int, number: int) -> None:
    with writing(platform.sessions) as session:
        if number >= 2**31 or not changed(
            session, delete(IdentityRow).where(IdentityRow.id == number, IdentityRow.user_id == user)
        ):
            raise NotFound(
                f"There is no connected account {number}.", "The page Settings lists your connected accounts."
            )


def _views(session: Session, user: int) -> list[IdentityView]:
    found = session.scalars(
        select(IdentityRow).where(IdentityRow.user_id == user).order_by(IdentityRow.id)
    ).all()
    return [
        IdentityView(
            id=identity.id,
            label=identity.label,
            authority=identity.authority,
            subject=identity.subject,
            came_by=identity.came_by,
            created_at=identity.created_at,
            used_at=identity.used_at,
        )
        for identity in found
    ]
