from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from grader.records.engine import Sessions, make_engine, make_sessions
from grader.records.migrate import upgrade


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    engine = make_engine(database_url)
    upgrade(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def sessions(engine: Engine) -> Sessions:
    return make_sessions(engine)
