"""Guards come before the database, so here it is SQLite alone; what a database may decide (quotas) names its own."""

import pytest


@pytest.fixture
def database() -> str:
    return ""
