"""If the judge itself finds no memory left on the device, it names the cause."""

from __future__ import annotations

import pytest
import torch

from grader.challenge.catalogue import Catalogue
from grader.errors import JudgeFailure
from grader.judge import session
from grader.judge.device import TimingPlan
from grader.judge.host_device import HostDevice
from grader.judge.oracle import Question
from grader.judge.request import CPU, Request
from grader.judge.session import Session
from grader.languages import Language
from grader.limits import GIB
from grader.schemas.report import Verdict
from tests.judge.plenty import Plenty
from tests.judge.test_killed_boxes import RIGHT, Boxes

ROUND = 12


class Crowded(HostDevice):
    plan = TimingPlan(rounds=15, most_rounds=15, control_rounds=3, warm_up=1)

    def __init__(self, boxes: Boxes, kept: int) -> None:
        self.staging = Full(boxes)
        self.memory_plan = Shared(boxes, kept)


class Full:
    def __init__(self, boxes: Boxes) -> None:
        self._boxes, self._rounds = boxes, 0

    def room(self, role: str, like: torch.Tensor) -> torch.Tensor:
        return torch.empty(like.shape, dtype=like.dtype)

    def stage(self, question: Question) -> Question:
        self._rounds += bool(self._boxes.started)
        if self._rounds == ROUND:
            raise torch.OutOfMemoryError("tried to allocate 16 MiB")
        return question


class Shared(Plenty):
    """A submission's box holds ``kept`` bytes as long as it lives."""

    def __init__(self, boxes: Boxes, kept: int) -> None:
        self._boxes, self._kept = boxes, kept

    def lacked_memory(self, error: Exception) -> bool:
        return isinstance(error, torch.OutOfMemoryError)

    def free_bytes(self) -> int:
        alive = any(box.end() is None for box in self._boxes.started)
        return 100 * GIB - (self._kept if alive else 0)

    def may_keep(self, kept: int) -> bool:
        return kept < 20 * GIB


def _session(catalogue: Catalogue, kept: int) -> Session:
    challenge, boxes = catalogue.load("twice"), Boxes()
    request = Request(challenge, Language.TRITON, RIGHT, CPU, bytes(32), challenge.cases, timing=True)
    return Session(request, Crowded(boxes, kept), boxes, lambda _: None, lambda: None)


def test_keeping_the_devices_memory_is_memory_limit(catalogue: Catalogue) -> None:
    """As our failure it would give the attempt back, as often as a student likes."""
    report = _session(catalogue, 90 * GIB).run().report
    assert report.verdict is Verdict.MEMORY_LIMIT
    assert "kept so much" in report.detail
    assert report.score.time_us is None
    assert {case.name for case in report.cases} == {
        case.name for case in catalogue.load("twice").cases if not case.hidden
    }


def test_memory_held_by_another_process_is_our_failure(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "_FREED_SECONDS", 0.0)
    with pytest.raises(JudgeFailure, match="no memory left"):
        _session(catalogue, GIB // 2).run()
