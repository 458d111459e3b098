from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from grader.records.engine import Sessions, make_engine, make_sessions


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test of this folder is about SQL, locks or migrations."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.both_databases)


@pytest.fixture
def engine(database_url: str, upgrade_by_copy: Callable[[Engine], None]) -> Iterator[Engine]:
    engine = make_engine(database_url)
    upgrade_by_copy(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def sessions(engine: Engine) -> Sessions:
    return make_sessions(engine)
