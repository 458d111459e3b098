"""What becomes of each row that refers to a person who is deleted: every such column of the schema is filled and looked
at afterwards, so that a new column of text has to be blanked or named."""

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
# What constraints ask for.
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
    "lti_scores": {"sent_at": MOMENT, "sent_points": 1.0, "sent_most": 1.0},
    "reports": {"body": '{"compiler_log": "zelda"}'},
}


class Filler:
    """Rows with ``MARK`` in every column of text; what they refer to is made for each."""

    def __init__(self, session: Session, other: int) -> None:
        self.session, self.other = session, other
        self.numbers = itertools.count(100)

    def row(self, table: Table, **given: Any) -> tuple[Any, ...]:
        """Its primary key."""
        values = {**GIVEN.get(table.name, {}), **given}
        for column in table.columns:
            if column.name not in values:
                found = self.value(table, column)
                if found is not None:
                    values[column.name] = found
        self.session.execute(table.insert().values(values))
        keys = list(table.primary_key.columns)
        if all(it.name in values for it in keys):
            return tuple(values[it.name] for it in keys)
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
    """A person who was in every table, deleted. ``keys``: of the rows, by the column that referred to the person."""

    def __init__(self, platform: Platform) -> None:
        person = create_user(platform, MARK, "correct horse", email=f"{MARK}@uni.example").id
        other = create_user(platform, "somebody", "correct horse").id
        self.keys: dict[str, tuple[Any, ...]] = {}
        self.own: dict[str, int] = {}
        with writing(platform.sessions) as session:
            filler = Filler(session, other)
            for it in personal.COLUMNS:
                name = it.column.partition(".")[2]
                target = next(iter(it.table.c[name].foreign_keys)).column.table.name
                mine = person if target == "users" else filler.row(TABLES["submissions"], user_id=person)[0]
                given: dict[str, Any] = {name: mine}
                if it.table.name == "reviews":
                    flagged = it.column == "reviews.submission_id"
                    given |= (
                        {"flag": next(iter(Flag)), "pair_id": None}
                        if flagged
                        else {"pair_id": filler.row(TABLES["similar_pairs"])[0]}
                    )
                if it.table.name in ("announcements", "questions"):
                    given["course_id"] = filler.row(TABLES["courses"])[0]
                if it.column == "extensions.made_by":
                    given |= {"user_id": other}
                self.keys[it.column] = filler.row(it.table, **given)
                self.own[it.column] = mine
        retention.forget(platform, MARK)
        with platform.sessions() as session:
            self.rows = {it.column: self._read(session, it) for it in personal.COLUMNS}

    def _read(self, session: Session, it: PersonalColumn) -> dict[str, Any] | None:
        keys = zip(it.table.primary_key.columns, self.keys[it.column], strict=True)
        found = session.execute(select(it.table).where(*(column == key for column, key in keys))).first()
        return dict(found._mapping) if found is not None else None


@pytest.fixture(scope="module")
def deleted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deleted]:
    folder = tmp_path_factory.mktemp("personal")
    platform = open_platform(builders.make_settings(folder, challenges=make_catalogue(folder / "catalogue")))
    yield Deleted(platform)
    platform.close()


@pytest.mark.parametrize("it", personal.COLUMNS, ids=lambda it: it.column)
def test_a_row_has_the_fate_that_is_written_down(deleted: Deleted, it: PersonalColumn) -> None:
    row = deleted.rows[it.column]
    if it.fate is Fate.REMOVED:
        assert row is None
        return
    assert row is not None
    assert row[it.column.partition(".")[2]] == deleted.own[it.column]
    if it.fate is Fate.KEPT:
        return
    blank = dict(it.blank) | (sources.BLANK if it.column == "submissions.user_id" else {})
    for name, value in blank.items():
        assert row[name] is not None if value is NOW else row[name] == value, name
    told = {
        column.name
        for column in it.table.columns
        if column.name not in it.words and MARK in str(row[column.name])
    }
    assert told == set(), "blank these in grader/records/personal.py, or name them in `words`"
