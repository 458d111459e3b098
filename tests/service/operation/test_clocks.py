"""Web and workers live on hosts whose clocks differ: who is alive is told by the database's clock alone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from grader.languages import Language
from grader.records import workers
from grader.records.engine import clock, writing
from grader.records.models import base
from grader.service import devices
from grader.service.operation import figures, health, queues
from grader.service.platform import Platform

pytestmark = pytest.mark.both_databases


@pytest.fixture
def ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process' own clock is an hour ahead, wherever it is asked for by its old name."""

    def later() -> datetime:
        return base.utcnow() + timedelta(hours=1)

    for module in (devices, figures, health, queues):
        if hasattr(module, "utcnow"):
            monkeypatch.setattr(module, "utcnow", later)


@pytest.mark.usefixtures("ahead")
@pytest.mark.parametrize(
    "served",
    [
        lambda it: "h200" in devices.served_devices(it),
        lambda it: "h200" in health.health(it).devices,
        lambda it: "h200" in {queue.name for queue in queues.list_queues(it).queues},
    ],
)
def test_a_worker_whose_heart_beats_is_alive(platform: Platform, served: Callable[[Platform], bool]) -> None:
    with writing(platform.sessions) as session:
        workers.register(session, "w", "h200", [Language.CUDA], clock(session), "GPU-1")
    assert served(platform)
