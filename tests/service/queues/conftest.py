"""Platforms whose workers stay alive, and one with narrow quotas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.service.platform import open_platform
from grader.settings import Settings
from tests.service.queues.builders import BOARD
from tests.service.world import make_settings


@pytest.fixture
def settings(tmp_path: Path, redis_url: str, database: str) -> Settings:
    """Workers stay alive, however slow the machine is."""
    return make_settings(tmp_path, redis_url, lease_s=60.0)


@pytest.fixture
def small(tmp_path: Path, redis_url: str, database: str) -> Any:
    values: dict[str, Any] = {
        "lease_s": 60.0,
        "quota": 2,
        "quota_hours": 1.0,
        "devices": f"cpu,{BOARD}",
        "waiting_per_user": 3,
    }
    platform = open_platform(make_settings(tmp_path, redis_url, **values))
    yield platform
    platform.close()
