"""The rows that refer to a deleted person: every such column of the schema is filled and checked, so that a
new text column has to be blanked or named.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    DateTime,
    Enum,
    Float,
    Integer,
    LargeBinary,
    String,
    Table,
    select,
)
from sqlalchemy.orm import Session

from grader.languages import Language
from grader.records import personal, sources
from grader.records.engine import writing
from grader.records.models import Base
from grader.records.models.base import LanguageName, UtcDateTime, VerdictColumn
from grader.records.personal import NOW, Fate, PersonalColumn
from grader.schemas.feedback import RequestState
from grader.schemas.report import Flag
from grader.schemas.submission import State
from grader.service.accounts.accounts import create_user
from grader.service.operation import retention
from grader.service.platform import Platform, open_platform
from tests.service.world import make_catalogue
from tests.web import builders

MARK = "zelda"
TABLES = Base.metadata.tables
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
LATER = MOMENT + timedelta(days=1)
# Values that constraints require.
GIVEN: dict[str, dict[str, Any]] = {
    "submissions": {"state": State.CANCELLED, "verdict": None, "competition_id": None, "team_id": None},
    "assignments": {"open_at": MOMENT, "due_at": LATER, "late_until": None},
    "competitions": {"starts_at": MOMENT, "ends_at": LATER, "freeze_minutes": 0, "team_size": 1},
    "extensions": {"section": None, "late_until": None},
    "announcements": {"competition_id": None, "assignment_id": None},
    "questions": {"competition_id": None},
    "regrade_requests": {"state": RequestState.OPEN, "answered_at": None},
    "reviews": {"submission_id": None, "flag": None},
    "comments": {"thread_id": None, "first_line": None, "last_line": None},
    "posts": {"thread_id": None},
    "lti_scores": {"sent_at": MOMENT, "sent_points": 1.0, "sent_most": 1.0},
    "reports": {"body": '{"compiler_log": "zelda"}'},
}


class Filler:
    """Rows with ``MARK`` in every text column; rows that they refer to are made, too."""

    def __init__(self, session: Session, other: int) -> None:
        self.session, self.other = session, other
        self.numbers = itertools.count(100)

    def row(self, table: Table, **given: Any) -> tuple[Any, ...]:
        """Returns the primary key."""
        values = {**GIVEN.get(table.name, {}), **given}
        for column in table.columns:
            if column.name not in values:
                found = self.value(table, column)
                if found is not None:
                    values[column.name] = found
        self.session.execute(table.insert().values(values))
        keys = list(table.primary_key.columns)
        if all(key.name in values for key in keys):
            return tuple(values[key.name] for key in keys)
        return (self.session.scalar(select(keys[0]).order_by(keys[0].desc()).limit(1)),)

    def value(self, table: Table, column: Column[Any]) -> Any:
        for key in column.foreign_keys:
            parent = key.column.table
            if parent.name == "users":
                return self.other
            return None if column.nullable else self.row(parent)[0]
        kind = column.type
        if column.primary_key and isinstance(kind, Integer) and len(table.primary_key.columns) == 1:
            return None
        if isinstance(kind, UtcDateTime | DateTime):
            return None if column.nullable else MOMENT
        if isinstance(kind, LanguageName):
            return Language.TRITON
        if isinstance(kind, Enum):
            return None if column.nullable else next(iter(kind.python_type))
        if isinstance(kind, String) and not isinstance(kind, VerdictColumn):
            return f"{MARK}{next(self.numbers)}"[: kind.length]
        if isinstance(kind, JSON):
            return {MARK: MARK}
        if isinstance(kind, LargeBinary):
            return MARK.encode()
        if isinstance(kind, Boolean):
            return False
        if isinstance(kind, Integer):
            return None if column.nullable else next(self.numbers)
        return 1.0 if isinstance(kind, Float) and not column.nullable else None


class Deleted:
    """A deleted person who was in every table. ``keys``: primary keys by the column that referred to the person."""

    def __init__(self, platform: Platform) -> None:
        person = create_user(platform, MARK, "correct horse", email=f"{MARK}@uni.example").id
        other = create_user(platform, "somebody", "correct horse").id
        self.keys: dict[str, tuple[Any, ...]] = {}
        self.own: dict[str, int] = {}
        with writing(platform.sessions) as session:
            filler = Filler(session, other)
            for entry in personal.COLUMNS:
                name = entry.column.partition(".")[2]
                target = next(iter(entry.table.c[name].foreign_keys)).column.table.name
                mine = person if target == "users" else filler.row(TABLES["submissions"], user_id=person)[0]
                given: dict[str, Any] = {name: mine}
                if entry.table.name == "reviews":
                    flagged = entry.column == "reviews.submission_id"
                    given |= (
                        {"flag": next(iter(Flag)), "pair_id": None}
                        if flagged
                        else {"pair_id": filler.row(TABLES["similar_pairs"])[0]}
                    )
                if entry.table.name in ("announcements", "questions"):
                    given["course_id"] = filler.row(TABLES["courses"])[0]
                if entry.column == "extensions.made_by":
                    given |= {"user_id": other}
                self.keys[entry.column] = filler.row(entry.table, **given)
                self.own[entry.column] = mine
        retention.forget(platform, MARK)
        with platform.sessions() as session:
            self.rows = {entry.column: self._read(session, entry) for entry in personal.COLUMNS}

    def _read(self, session: Session, entry: PersonalColumn) -> dict[str, Any] | None:
        keys = zip(entry.table.primary_key.columns, self.keys[entry.column], strict=True)
        found = session.execute(select(entry.table).where(*(column == key for column, key in keys))).first()
        return dict(found._mapping) if found is not None else None


@pytest.fixture(scope="module")
def deleted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deleted]:
    folder = tmp_path_factory.mktemp("personal")
    platform = open_platform(builders.make_settings(folder, challenges=make_catalogue(folder / "catalogue")))
    yield Deleted(platform)
    platform.close()


@pytest.mark.parametrize("entry", personal.COLUMNS, ids=lambda entry: entry.column)
def test_each_personal_column_is_treated_as_declared(deleted: Deleted, entry: PersonalColumn) -> None:
    row = deleted.rows[entry.column]
    if entry.fate is Fate.REMOVED:
        assert row is None
        return
    assert row is not None
    assert row[entry.column.partition(".")[2]] == deleted.own[entry.column]
    if entry.fate is Fate.KEPT:
        return
    blank = dict(entry.blank) | (sources.BLANK if entry.column == "submissions.user_id" else {})
    for name, value in blank.items():
        assert row[name] is not None if value is NOW else row[name] == value, name
    told = {
        column.name
        for column in entry.table.columns
        if column.name not in entry.words and MARK in str(row[column.name])
    }
    assert told == set(), "blank these in grader/records/personal.py, or name them in `words`"
