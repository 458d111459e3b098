"""The platform of these tests runs on every database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.service.platform import Platform, open_platform
from tests.service.world import make_settings


@pytest.fixture
def platform(tmp_path: Path, redis_url: str, database_url: str) -> Iterator[Platform]:
    platform = open_platform(make_settings(tmp_path, redis_url, database_url=database_url))
    yield platform
    platform.close()
