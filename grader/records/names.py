from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from grader.records.models import UserRow

# SQLite limits parameters to 32,766.
_IDS = 1_000


class Person(NamedTuple):
    name: str
    anonymous: bool


def people(session: Session, users: Sequence[int]) -> dict[int, Person]:
    table, found = UserRow, {}
    for start in range(0, len(users), _IDS):
        wanted = select(table.id, table.name, _anonymous()).where(table.id.in_(users[start : start + _IDS]))
        found.update({own: Person(name, anonymous) for own, name, anonymous in session.execute(wanted)})
    return found


def names_of(session: Session, users: Iterable[int | None]) -> dict[int, str]:
    """Of a few."""
    found = session.execute(select(UserRow.id, UserRow.name).where(UserRow.id.in_(set(users) - {None})))
    return {row.id: row.name for row in found}


def with_roles(session: Session, roles: Collection[str]) -> list[int]:
    table = UserRow
    return list(session.scalars(select(table.id).where(table.role.in_(list(roles))).order_by(table.id)))


def _anonymous() -> ColumnElement[bool]:
    """Computed by the database: parsing the preferences of ten thousand people takes long."""
    return func.coalesce(UserRow.preferences["anonymous"].as_boolean(), False)
