"""Users and their passwords."""

from __future__ import annotations

import functools
import re
import secrets
from dataclasses import dataclass, field

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from grader import limits
from grader.errors import BadRequest, Conflict, NotAllowed, NotFound, NotSignedIn
from grader.records.engine import writing
from grader.records.models import DeviceCodeRow, IdentityRow, LinkRow, TokenRow, UserRow
from grader.schemas.account import STAFF_ROLES, EmailBy, Role
from grader.schemas.preferences import Preferences, of_stored
from grader.schemas.token import ALL_SCOPES, Scope
from grader.service.platform import Platform

_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{limits.NAME_CHARS - 1}}}")
# What the name of an account that was deleted begins with: no other account and no team can have such a name.
DELETED = "deleted-user-"
# An identity that was connected with the password: ``IdentityRow.came_by``.
BY_OWNER = "owner"
_PASSWORD_MIN = 8
# Hashing reads all of it: no reason to let anyone send a megabyte.
_PASSWORD_MAX = 1024


@dataclass(frozen=True)
class User:
    """Who asks. ``id`` is the database's, ``name`` is what others see; ``scopes`` are those of the token that speaks
    for them; ``preferences`` are as they were when the request began; ``teaches``: they are of the staff of a course.
    """

    id: int
    name: str
    role: Role
    scopes: frozenset[Scope] = field(default=frozenset(ALL_SCOPES), compare=False)
    preferences: Preferences = field(default=Preferences(), compare=False)
    teaches: bool = field(default=False, compare=False)

    @property
    def staff(self) -> bool:
        """Whether they may do what staff may, by this token."""
        return self.role in STAFF_ROLES and Scope.STAFF in self.scopes

    @property
    def admin(self) -> bool:
        return self.role is Role.ADMIN and self.staff


def check_staff(user: User) -> None:
    """Raises NotAllowed."""
    if not user.staff:
        raise NotAllowed("Only staff may do that.", lacking(user) or "Ask your teacher.")


def check_admin(user: User) -> None:
    """Raises NotAllowed."""
    if not user.admin:
        raise NotAllowed("Only admins may do that.", lacking(user) or "Ask who runs the platform.")


def lacking(user: User) -> str:
    """A hint for staff whose token alone is what keeps them out."""
    if user.role in STAFF_ROLES and not user.staff:
        return "Your token has no scope 'staff': `grader login --scope read,submit,staff` gets one that has."
    return ""


def create_user(
    platform: Platform, name: str, password: str, role: Role = Role.STUDENT, email: str | None = None
) -> User:
    """For who runs the platform: ``email`` is believed.

    Raises BadRequest (name, password) or Conflict (the name is taken, upper and lower case being the
    same; or the e-mail address is another's).
    """
    row = new_row(name, password, role, email, EmailBy.ADMIN)
    with writing(platform.sessions) as session:
        add_row(session, row)
    return of_row(row)


def new_row(
    name: str, password: str, role: Role, email: str | None = None, email_by: EmailBy = EmailBy.OWNER
) -> UserRow:
    """A user that is in no database yet: hashing takes long, and must not hold a lock. Raises BadRequest."""
    if not _NAME.fullmatch(name):
        raise BadRequest(
            "That name cannot be used.",
            f"1 to {limits.NAME_CHARS} of a to z, A to Z, 0 to 9, '.', '_' and '-', the first a letter or digit.",
        )
    check_not_of_deleted(name)
    return UserRow(
        name=name,
        name_key=name.lower(),
        password_hash=hash_password(password),
        role=role.value,
        email=email,
        email_key=email.lower() if email else None,
        email_by=email_by.value if email else "",
    )


def check_not_of_deleted(name: str) -> None:
    """Raises BadRequest: whoever had such a name would pass for an account that was deleted."""
    if name.lower().startswith(DELETED):
        raise BadRequest(
            "That name cannot be used.", f"Names that begin with {DELETED} are those of deleted accounts."
        )


def check_not_deleted(row: UserRow) -> None:
    """Raises Conflict: nobody signs in to it, teaches or goes once more."""
    if row.deleted_at is not None:
        raise Conflict(f"The account '{row.name}' was deleted.", "Its owner can make a new one.")


def add_row(session: Session, row: UserRow) -> None:
    """Raises Conflict where the name or the address is taken; the transaction is lost then."""
    # Kept apart: what failed says nothing that could be asked.
    name, email = row.name, row.email_key
    try:
        session.add(row)
        session.flush()
    except IntegrityError as error:
        if email and "email_key" in str(error.orig):
            raise Conflict("That e-mail address has an account already.", "Sign in to it.") from error
        raise Conflict(f"There is a user '{name}' already.", "Choose another name.") from error


def has_users(platform: Platform) -> bool:
    """Whether anyone has an account: false on the first start."""
    with platform.sessions() as session:
        return session.scalar(select(UserRow.id).limit(1)) is not None


def hash_password(password: str) -> str:
    """What is kept of a password. Raises BadRequest where it cannot be used."""
    if len(password) < _PASSWORD_MIN:
        raise BadRequest("The password is too short.", f"Take at least {_PASSWORD_MIN} characters.")
    if len(password) > _PASSWORD_MAX:
        raise BadRequest("The password is too long.", f"Take at most {_PASSWORD_MAX} characters.")
    return _hasher().hash(password)


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


def check_password(platform: Platform, user: User, password: str) -> None:
    """Raises NotAllowed where it is not theirs."""
    try:
        authenticate(platform, user.name, password)
    except NotSignedIn as error:
        raise NotAllowed("The present password is wrong.", "Nothing was changed.") from error


def change_password(platform: Platform, user: User, present: str, new: str) -> None:
    """Raises NotAllowed where ``present`` is wrong, BadRequest where ``new`` cannot be used.

    Ends every session and token of the user: the old password is worth nothing any more.
    """
    try:
        authenticate(platform, user.name, present)
    except NotSignedIn as error:
        raise NotAllowed("The present password is wrong.", "Staff can set a new one.") from error
    set_password(platform, user.name, new)


def set_password(platform: Platform, name: str, new: str) -> User:
    """For who runs the platform. Ends every session and token of the user. Raises NotFound, BadRequest."""
    hashed = hash_password(new)
    with writing(platform.sessions) as session:
        row = find_row(session, name)
        put_password(session, row, hashed)
    return of_row(row)


def put_password(session: Session, row: UserRow, hashed: str) -> None:
    """A new password, and the end of all that stood on the old one: sessions, tokens, links, approved codes, and what
    was connected by it. Raises Conflict for a deleted account."""
    check_not_deleted(row)
    row.password_hash = hashed
    for table in (TokenRow, LinkRow, DeviceCodeRow):
        session.execute(delete(table).where(table.user_id == row.id))
    connected = (IdentityRow.user_id == row.id, IdentityRow.came_by == BY_OWNER)
    session.execute(delete(IdentityRow).where(*connected))


def find_row(session: Session, name: str) -> UserRow:
    """Raises NotFound."""
    row = session.scalar(select(UserRow).where(UserRow.name_key == name_key(name)))
    if row is None:
        raise NotFound(f"There is no user '{name[: limits.NAME_CHARS]}'.", "See how the name is spelt.")
    return row


def user_by_id(platform: Platform, user_id: int) -> User | None:
    with platform.sessions() as session:
        row = session.get(UserRow, user_id)
    return of_row(row) if row else None


def of_row(row: UserRow, scopes: frozenset[Scope] = frozenset(ALL_SCOPES)) -> User:
    return User(row.id, row.name, Role(row.role), scopes, of_stored(row.preferences or {}), bool(row.teaches))


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
