"""The platform of these tests runs on every database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from argon2 import PasswordHasher

from grader.service import accounts
from grader.service.platform import Platform, open_platform
from tests.service.world import make_settings


@pytest.fixture(autouse=True)
def _quick_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """What hashing should cost is not tested here, and each test makes accounts."""
    quick = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(accounts, "_hasher", lambda: quick)


@pytest.fixture
def platform(tmp_path: Path, redis_url: str, database_url: str) -> Iterator[Platform]:
    platform = open_platform(make_settings(tmp_path, redis_url, database_url=database_url))
    yield platform
    platform.close()
