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
from grader.records.models.submissions import TOKEN_KEY_CHARS
from grader.schemas.account import STAFF_ROLES, EmailBy, Role
from grader.schemas.preferences import Preferences, of_stored
from grader.schemas.token import ALL_SCOPES, Scope
from grader.service.platform import Platform

_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{limits.NAME_CHARS - 1}}}")
# Names with this prefix are reserved.
DELETED = "deleted-user-"
# ``IdentityRow.came_by`` if the owner connected it with the password.
BY_OWNER = "owner"
_PASSWORD_MIN = 8
# Bounded, because hashing reads the whole password.
_PASSWORD_MAX = 1024


@dataclass(frozen=True)
class TokenUse:
    """The token of a call. ``per_day``, ``at_once``: limits of its own, which hold besides the account's."""

    number: int
    sha256: str
    per_day: int | None = None
    at_once: int | None = None

    @property
    def key(self) -> str:
        """Names it in rows, also after its end."""
        return self.sha256[:TOKEN_KEY_CHARS]

    @property
    def limited(self) -> bool:
        return self.per_day is not None or self.at_once is not None


@dataclass(frozen=True)
class User:
    id: int
    name: str
    role: Role
    scopes: frozenset[Scope] = field(default=frozenset(ALL_SCOPES), compare=False)
    preferences: Preferences = field(default=Preferences(), compare=False)
    teaches: bool = field(default=False, compare=False)
    # None: a session, or no call.
    token: TokenUse | None = field(default=None, compare=False)

    @property
    def staff(self) -> bool:
        return self.role in STAFF_ROLES and Scope.STAFF in self.scopes

    @property
    def admin(self) -> bool:
        return self.role is Role.ADMIN and self.staff


def check_staff(user: User) -> None:
    """Raises NotAllowed."""
    if not user.staff:
        raise NotAllowed("Only staff may do this.", lacking(user) or "Ask your teacher.")


def check_admin(user: User) -> None:
    """Raises NotAllowed."""
    if not user.admin:
        raise NotAllowed("Only admins may do this.", lacking(user) or "Ask an admin of this site.")


def lacking(user: User) -> str:
    if user.role in STAFF_ROLES and not user.staff:
        return "Your token lacks the scope 'staff'. Get one that has it: `grader login --scope read,submit,staff`."
    return ""


def create_user(
    platform: Platform, name: str, password: str, role: Role = Role.STUDENT, email: str | None = None
) -> User:
    """For operators: ``email`` counts as verified. Raises BadRequest, Conflict."""
    row = new_row(name, password, role, email, EmailBy.ADMIN)
    with writing(platform.sessions) as session:
        add_row(session, row)
    return of_row(row)


def new_row(
    name: str, password: str, role: Role, email: str | None = None, email_by: EmailBy = EmailBy.OWNER
) -> UserRow:
    """Slow, so call it without locks. Raises BadRequest."""
    if not _NAME.fullmatch(name):
        raise BadRequest(
            "This name is not allowed.",
            f"Use 1 to {limits.NAME_CHARS} of a to z, A to Z, 0 to 9, '.', '_' and '-'; begin with a letter or digit.",
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
    """Raises BadRequest."""
    if name.lower().startswith(DELETED):
        raise BadRequest(
            "This name is not allowed.",
            f"Names that begin with {DELETED} belong to deleted accounts. Choose another name.",
        )


def check_not_deleted(row: UserRow) -> None:
    """Raises Conflict."""
    if row.deleted_at is not None:
        raise Conflict(f"The account '{row.name}' is deleted.", "Its owner can make a new account.")


def add_row(session: Session, row: UserRow) -> None:
    """Raises Conflict if name or address is taken; the transaction is lost then."""
    # The database's error does not say which is taken.
    name, email = row.name, row.email_key
    try:
        session.add(row)
        session.flush()
    except IntegrityError as error:
        if email and "email_key" in str(error.orig):
            raise Conflict(
                "An account with this e-mail address exists already.",
                "Sign in to it, or use another address.",
            ) from error
        raise Conflict(f"The name '{name}' is taken.", "Choose another name.") from error


def has_users(platform: Platform) -> bool:
    with platform.sessions() as session:
        return session.scalar(select(UserRow.id).limit(1)) is not None


def hash_password(password: str) -> str:
    """Raises BadRequest for a wrong length."""
    if len(password) < _PASSWORD_MIN:
        raise BadRequest("The password is too short.", f"Use at least {_PASSWORD_MIN} characters.")
    if len(password) > _PASSWORD_MAX:
        raise BadRequest("The password is too long.", f"Use at most {_PASSWORD_MAX} characters.")
    return _hasher().hash(password)


def name_key(name: str) -> str:
    """Ignores case."""
    return name[: limits.NAME_CHARS].lower()


def authenticate(platform: Platform, name: str, password: str) -> User:
    """Raises NotSignedIn, after the same time for unknown names."""
    nobodys = _nobodys_hash()  # always, or a process's first unknown name would take twice as long
    with platform.sessions() as session:
        row = session.scalar(select(UserRow).where(UserRow.name_key == name_key(name)))
    known = _matches(row.password_hash if row else nobodys, password[:_PASSWORD_MAX])
    if row is None or not known:
        raise NotSignedIn("Name or password is wrong.", "Passwords are case-sensitive, names are not.")
    return of_row(row)


def check_password(platform: Platform, user: User, password: str) -> None:
    """Raises NotAllowed."""
    try:
        authenticate(platform, user.name, password)
    except NotSignedIn as error:
        raise NotAllowed("The current password is wrong.", "Nothing was changed.") from error


def change_password(platform: Platform, user: User, present: str, new: str) -> None:
    """Ends all sessions and tokens: others may know the old password. Raises NotAllowed (wrong ``present``),
    BadRequest."""
    try:
        authenticate(platform, user.name, present)
    except NotSignedIn as error:
        raise NotAllowed(
            "The current password is wrong.", "If you forgot it, ask staff to set a new one."
        ) from error
    set_password(platform, user.name, new)


def set_password(platform: Platform, name: str, new: str) -> User:
    """For operators. Ends all sessions and tokens. Raises NotFound, BadRequest."""
    hashed = hash_password(new)
    with writing(platform.sessions) as session:
        row = find_row(session, name)
        put_password(session, row, hashed)
    return of_row(row)


def put_password(session: Session, row: UserRow, hashed: str) -> None:
    """Also ends sessions, tokens, links, approved codes and connected identities. Raises Conflict (deleted)."""
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
        raise NotFound(f"There is no user '{name[: limits.NAME_CHARS]}'.", "Check the spelling.")
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
    """So that unknown names take as long as known ones."""
    return _hasher().hash(secrets.token_hex())


def _matches(hashed: str, password: str) -> bool:
    try:
        return _hasher().verify(hashed, password)
    except (VerificationError, InvalidHashError):
        return False
