"""Users, passwords and API tokens."""

from __future__ import annotations

import functools
import hashlib
import re
import secrets
from dataclasses import dataclass
from enum import StrEnum

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError

from grader import limits
from grader.errors import BadRequest, Conflict, NotSignedIn
from grader.records.engine import writing
from grader.records.models import TokenRow, UserRow
from grader.service.platform import Platform

_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{limits.NAME_CHARS - 1}}}")
_TOKEN_PREFIX = "grd_"  # noqa: S105 - a prefix, so that secret scanners know our tokens
_PASSWORD_MIN = 8
# Hashing reads all of it: no reason to let anyone send a megabyte.
_PASSWORD_MAX = 1024


class Role(StrEnum):
    STUDENT = "student"
    STAFF = "staff"


@dataclass(frozen=True)
class User:
    """Who asks. ``id`` is the database's, ``name`` is what others see."""

    id: int
    name: str
    role: Role

    @property
    def staff(self) -> bool:
        return self.role is Role.STAFF


def create_user(platform: Platform, name: str, password: str, role: Role = Role.STUDENT) -> User:
    """Raises BadRequest (name, password) or Conflict (the name is taken, upper and lower case being the
    same).
    """
    if not _NAME.fullmatch(name):
        raise BadRequest(
            "That name cannot be used.",
            f"1 to {limits.NAME_CHARS} letters, digits, '.', '_' and '-', beginning with a letter or digit.",
        )
    _check_password(password)
    row = UserRow(name=name, name_key=name.lower(), password_hash=_hasher().hash(password), role=role.value)
    try:
        with writing(platform.sessions) as session:
            session.add(row)
    except IntegrityError as error:
        raise Conflict(f"There is a user '{name}' already.", "Choose another name.") from error
    return _user(row)


def has_users(platform: Platform) -> bool:
    """Whether anybody has an account: false on the first start."""
    with platform.sessions() as session:
        return session.scalar(select(UserRow.id).limit(1)) is not None


def _check_password(password: str) -> None:
    if len(password) < _PASSWORD_MIN:
        raise BadRequest("The password is too short.", f"Take at least {_PASSWORD_MIN} characters.")
    if len(password) > _PASSWORD_MAX:
        raise BadRequest("The password is too long.", f"Take at most {_PASSWORD_MAX} characters.")


def authenticate(platform: Platform, name: str, password: str) -> User:
    """The user of that name and password. Raises NotSignedIn, in the same time whether or not the name
    exists.
    """
    with platform.sessions() as session:
        row = session.scalar(select(UserRow).where(UserRow.name_key == name[: limits.NAME_CHARS].lower()))
    known = _matches(row.password_hash if row else _nobodys_hash(), password[:_PASSWORD_MAX])
    if row is None or not known:
        raise NotSignedIn(
            "Name or password is wrong.", "Upper and lower case matter in the password, not in the name."
        )
    return _user(row)


def issue_token(platform: Platform, user: User, label: str = "cli") -> str:
    """A new API token. It is shown this once: only its hash is kept."""
    token = _TOKEN_PREFIX + secrets.token_urlsafe(32)
    with writing(platform.sessions) as session:
        session.add(TokenRow(user_id=user.id, sha256=_digest(token), label=label[: limits.NAME_CHARS]))
    return token


def user_of_token(platform: Platform, token: str) -> User:
    """Raises NotSignedIn where the token was never issued or was revoked."""
    with platform.sessions() as session:
        row = session.scalar(
            select(UserRow)
            .join(TokenRow, TokenRow.user_id == UserRow.id)
            .where(TokenRow.sha256 == _digest(token))
        )
    if row is None:
        raise NotSignedIn("This token is not valid.", "`grader login` gets a new one.")
    return _user(row)


def user_by_id(platform: Platform, user_id: int) -> User | None:
    with platform.sessions() as session:
        row = session.get(UserRow, user_id)
    return _user(row) if row else None


def revoke_token(platform: Platform, token: str) -> None:
    """End a token. Harmless where it is not known."""
    with writing(platform.sessions) as session:
        session.execute(delete(TokenRow).where(TokenRow.sha256 == _digest(token)))


def _user(row: UserRow) -> User:
    return User(row.id, row.name, Role(row.role))


def _digest(token: str) -> str:
    # A token has 256 random bits: a plain hash cannot be searched through, so no slow one is needed.
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


@functools.cache
def _hasher() -> PasswordHasher:
    return PasswordHasher()


@functools.cache
def _nobodys_hash() -> str:
    """What is checked for an unknown name, so that it costs as much as a known one."""
    return _hasher().hash(secrets.token_hex())


def _matches(hashed: str, password: str) -> bool:
    try:
        return _hasher().verify(hashed, password)
    except (VerificationError, InvalidHashError):
        return False
