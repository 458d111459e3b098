"""Users and their passwords."""

from __future__ import annotations

import functools
import re
import secrets
from dataclasses import dataclass
from enum import StrEnum

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError

from grader import limits
from grader.errors import BadRequest, Conflict, NotAllowed, NotFound, NotSignedIn
from grader.records.engine import writing
from grader.records.models import TokenRow, UserRow
from grader.service.platform import Platform

_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{limits.NAME_CHARS - 1}}}")
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
    return of_row(row)


def has_users(platform: Platform) -> bool:
    """Whether anybody has an account: false on the first start."""
    with platform.sessions() as session:
        return session.scalar(select(UserRow.id).limit(1)) is not None


def _check_password(password: str) -> None:
    if len(password) < _PASSWORD_MIN:
        raise BadRequest("The password is too short.", f"Take at least {_PASSWORD_MIN} characters.")
    if len(password) > _PASSWORD_MAX:
        raise BadRequest("The password is too long.", f"Take at most {_PASSWORD_MAX} characters.")


def name_key(name: str) -> str:
    """What a name is looked up and counted by: Ada and ada are one."""
    return name[: limits.NAME_CHARS].lower()


def authenticate(platform: Platform, name: str, password: str) -> User:
    """The user of that name and password. Raises NotSignedIn, in the same time whether or not the name
    exists.
    """
    nobodys = _nobodys_hash()  # always, or the first unknown name of a process would take twice as long
    with platform.sessions() as session:
        row = session.scalar(select(UserRow).where(UserRow.name_key == name_key(name)))
    known = _matches(row.password_hash if row else nobodys, password[:_PASSWORD_MAX])
    if row is None or not known:
        raise NotSignedIn(
            "Name or password is wrong.", "Upper and lower case matter in the password, not in the name."
        )
    return of_row(row)


def change_password(platform: Platform, user: User, present: str, new: str) -> None:
    """Raises NotAllowed where ``present`` is wrong, BadRequest where ``new`` cannot be used.

    Ends every session and token of the user: whoever knew the old password is out.
    """
    try:
        authenticate(platform, user.name, present)
    except NotSignedIn as error:
        raise NotAllowed("The present password is wrong.", "Staff can set a new one.") from error
    set_password(platform, user.name, new)


def set_password(platform: Platform, name: str, new: str) -> User:
    """For who runs the platform. Ends every session and token of the user. Raises NotFound, BadRequest."""
    _check_password(new)
    hashed = _hasher().hash(new)
    with writing(platform.sessions) as session:
        row = session.scalar(select(UserRow).where(UserRow.name_key == name_key(name)))
        if row is None:
            raise NotFound(f"There is no user '{name[: limits.NAME_CHARS]}'.", "See how the name is spelt.")
        row.password_hash = hashed
        session.execute(delete(TokenRow).where(TokenRow.user_id == row.id))
    return of_row(row)


def user_by_id(platform: Platform, user_id: int) -> User | None:
    with platform.sessions() as session:
        row = session.get(UserRow, user_id)
    return of_row(row) if row else None


def of_row(row: UserRow) -> User:
    return User(row.id, row.name, Role(row.role))


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
