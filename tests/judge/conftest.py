"""The judge on tests/catalogue. Its boxes are forked, which takes milliseconds; tests of a box's behaviour
use ``local_boxes``, which are separate processes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grader.challenge.catalogue import Catalogue
from grader.device_kinds import CPU
from grader.judge.at_home import judge_at_home
from grader.judge.device import TimingPlan
from grader.judge.host_device import HostDevice
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.sandbox.forked_box import ForkedBoxes
from grader.sandbox.local_box import LocalBoxes
from grader.schemas.report import Report

CATALOGUE = Path(__file__).parent.parent / "catalogue"
Judge = Callable[..., Report]
# The host's own plan, for tests that need a known time.
WHOLE_PLAN = HostDevice.plan


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    return Catalogue(CATALOGUE)


@pytest.fixture(scope="session")
def boxes(forked_boxes: ForkedBoxes) -> BoxMaker:
    return forked_boxes


@pytest.fixture(autouse=True)
def _few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests need no exact time, which on a busy host takes seconds for each workload."""
    monkeypatch.setattr(HostDevice, "plan", TimingPlan(rounds=5, most_rounds=5, control_rounds=5, warm_up=1))


@pytest.fixture(scope="session")
def local_boxes() -> BoxMaker:
    return LocalBoxes()


@pytest.fixture
def judge(catalogue: Catalogue, boxes: BoxMaker) -> Judge:
    def run(source: str, slug: str = "twice", **options: object) -> Report:
        options.setdefault("timing", False)
        options.setdefault("device", CPU)
        return judge_at_home(catalogue.load(slug), source, Language.TRITON, boxes, **options)  # type: ignore[arg-type]

    return run
