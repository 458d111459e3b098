"""``user`` None: an operator on the server."""

from __future__ import annotations

from sqlalchemy import func, select

from grader.errors import Conflict
from grader.records.engine import writing
from grader.records.models import UserRow
from grader.schemas.account import PersonList, PersonView, Role
from grader.service import audit
from grader.service.accounts import needed
from grader.service.accounts.accounts import (
    User,
    check_admin,
    check_not_deleted,
    check_staff,
    find_row,
    of_row,
)
from grader.service.courses.permissions import Action
from grader.service.platform import Platform

_MOST = 5_000


def list_people(platform: Platform, user: User | None = None) -> PersonList:
    """By name. Raises NotAllowed."""
    if user is not None:
        check_staff(user)
    with platform.sessions() as session:
        rows = session.scalars(select(UserRow).order_by(UserRow.name_key).limit(_MOST)).all()
    return PersonList(people=[view(row) for row in rows])


def set_role(platform: Platform, name: str, role: Role, user: User | None = None) -> User:
    """Raises NotAllowed, NotFound, Conflict (the last admin)."""
    if user is not None:
        check_admin(user)
    with writing(platform.sessions) as session:
        row = find_row(session, name)
        check_not_deleted(row)
        goes = user is not None and row.role == Role.ADMIN and role is not Role.ADMIN
        if goes and not needed.other_admins(session, row.id):
            raise Conflict("This is the only admin.", "Make somebody else an admin first.")
        words = {"role": row.role}, {"role": role.value}
        path = f"/people/{row.name}/role"
        audit.note(session, user, Action.PERSON_ROLE, path, before=words[0], after=words[1])
        row.role = role.value
    return of_row(row)


def count(platform: Platform) -> int:
    with platform.sessions() as session:
        return session.scalar(select(func.count()).select_from(UserRow)) or 0


def view(row: UserRow) -> PersonView:
    return PersonView.model_validate(
        {"name": row.name, "role": row.role, "email": row.email, "created_at": row.created_at}
    )
