"""Guards come before the database, so SQLite is enough; tests that depend on the database (quotas) name theirs."""

import pytest


@pytest.fixture
def database() -> str:
    return ""
