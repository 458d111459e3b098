"""Fixtures of databases: SQLite and PostgreSQL in turn, one server for the whole session.

Tests marked ``both_databases`` (records, queries, locks, migrations, dumps: there the two differ) always run
on both. The others run on PostgreSQL in the full matrix (`make test-all`) only, a sixth at each commit
(``tests.rotation``).
"""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import Engine, inspect
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

from grader.records import schema
from tests.components import need

if TYPE_CHECKING:
    from tests.records.postgres import Copies

KINDS = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]
_numbers = itertools.count()
_STATEMENTS = 5000


def is_second_twin(item: pytest.Item) -> bool:
    """Whether ``item`` repeats on PostgreSQL a test that does not depend on the database."""
    run = getattr(item, "callspec", None)
    return (
        run is not None
        and "postgres" in run.params.values()
        and item.get_closest_marker("postgres") is not None
        and item.get_closest_marker("both_databases") is None
    )


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A server's URL, to be formatted with the ``name`` of a database."""
    need("postgres")
    from tests.records.postgres import cluster, make_template

    with cluster() as url:
        make_template(url)
        yield url


@pytest.fixture(scope="session")
def postgres_copies(postgres_url: str) -> Copies:
    from tests.records.postgres import Copies

    return Copies(postgres_url)


@pytest.fixture(params=KINDS)
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database, of each kind in turn."""
    if request.param == "sqlite":
        yield _sqlite(tmp_path)
        return
    from tests.records.postgres import drop_database, new_database

    url = new_database(request.getfixturevalue("postgres_url"), f"test{next(_numbers)}")
    yield url
    drop_database(url)


@pytest.fixture(params=KINDS)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database of each kind in turn. PostgreSQL's has its tables already; SQLite's file does not
    exist yet, because creating its tables costs less than a copy.
    """
    if request.param == "sqlite":
        yield _sqlite(tmp_path)
        return
    copies: Copies = request.getfixturevalue("postgres_copies")
    url = copies.take()
    yield url
    copies.give_back(url)


@pytest.fixture
def database(database_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The same, and every platform that the test opens without naming a database opens this one, also in
    processes that it starts.
    """
    monkeypatch.setenv("GRADER_DATABASE_URL", database_url)
    return database_url


def _sqlite(folder: Path) -> str:
    return f"sqlite:///{folder / 'grader.sqlite3'}"


def share_statements(patch: pytest.MonkeyPatch) -> None:
    """All engines of this process with the same dialect share compiled SQL. Most tests open an engine, and
    would compile some sixty statements again.
    """
    compiled: LRUCache[Any, Any] = LRUCache(_STATEMENTS)

    def kind(dialect: Any) -> tuple[object, ...]:
        return type(dialect), dialect.server_version_info

    shared = property(lambda self: compiled, lambda self, own: None)
    patch.setattr(Engine, "_compiled_cache", shared, raising=False)
    # The cache's keys contain the engine's dialect.
    for dialect in (SQLiteDialect_pysqlite, PGDialect_psycopg):
        patch.setattr(dialect, "__hash__", lambda self: hash(type(self)))
        patch.setattr(dialect, "__eq__", lambda self, other: kind(self) == kind(other))


@pytest.fixture(scope="session")
def upgrade_by_copy() -> Iterator[Callable[[Engine], None]]:
    """Replaces ``schema.upgrade``: fills an empty SQLite file from one that it migrated before."""
    template = sqlite3.connect(":memory:", check_same_thread=False)

    def upgrade(engine: Engine) -> None:
        if engine.dialect.name != "sqlite" or inspect(engine).has_table("alembic_version"):
            schema.upgrade(engine)
            return
        if not template.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            schema.upgrade(engine)
            with engine.connect() as connection:
                connection.connection.driver_connection.backup(template)
            return
        with engine.connect() as connection:
            template.backup(connection.connection.driver_connection)

    yield upgrade
    template.close()
