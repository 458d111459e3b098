"""A box that somebody else ends decides nothing; a submission that ends its own does."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from grader.challenge.course import find_course
from grader.errors import JudgeFailure
from grader.judge.device import make_device
from grader.judge.job import Progress
from grader.judge.request import CPU, Request
from grader.judge.session import Session
from grader.sandbox.box import Box, BoxSpec, Purpose
from grader.sandbox.local_box import LocalBoxes
from grader.schemas.report import Language, Verdict
from grader.schemas.submission import State
from tests.faults.stand import ROOT

RIGHT = "def solve(x, out, n):\n    out.copy_(2 * x)\n"


class Boxes(LocalBoxes):
    """Remembers the submission's."""

    def __init__(self) -> None:
        self.started: list[Box] = []

    def start(self, spec: BoxSpec) -> Box:  # type: ignore[override]
        box = super().start(spec)
        if spec.purpose is Purpose.RUN:
            self.started.append(box)
        return box

    def kill_last(self, number: signal.Signals) -> None:
        os.kill(self.started[-1]._process.pid, number)  # type: ignore[attr-defined]


def _judge(source: str, boxes: Boxes, on_progress: Callable[[Progress], None]) -> Verdict:
    challenge = find_course(ROOT / "tests" / "course").load("twice")
    request = Request(
        challenge=challenge,
        language=Language.TRITON,
        source=source,
        device=CPU,
        seed_key=bytes(32),
        cases=challenge.cases,
        timing=False,
    )
    return Session(request, make_device(CPU, 0), boxes, on_progress, lambda: None).run().report.verdict


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_box_that_is_killed_from_outside_is_judged_anew(number: signal.Signals) -> None:
    boxes, kills = Boxes(), [2]

    def kill(progress: Progress) -> None:
        if progress.state is State.TESTING and progress.progress.done == 1 and kills[0]:
            kills[0] -= 1
            boxes.kill_last(number)

    assert _judge(RIGHT, boxes, kill) is Verdict.ACCEPTED
    assert (len(boxes.started), kills) == (3, [0])


def test_a_submission_that_kills_itself_is_told_so() -> None:
    boxes = Boxes()
    source = "import os\n\n\ndef solve(x, out, n):\n    os.kill(os.getpid(), 9)\n"
    assert _judge(source, boxes, lambda _: None) is Verdict.RUNTIME_ERROR
    # Twice forgiven; then each case in a fresh box, as after any crash.
    assert len(boxes.started) > 3


def test_a_crash_is_not_forgiven() -> None:
    boxes = Boxes()
    source = "import os\n\n\ndef solve(x, out, n):\n    os.kill(os.getpid(), 11)\n"
    assert _judge(source, boxes, lambda _: None) is Verdict.RUNTIME_ERROR
    assert len(boxes.started) == 4  # the first, and three fresh ones


def test_what_a_full_disk_cannot_load_is_not_the_students_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    unloadable = "def solve(:\n"
    assert _judge(unloadable, Boxes(), lambda _: None) is Verdict.COMPILE_ERROR
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
    with pytest.raises(JudgeFailure, match="is full"):
        _judge(unloadable, Boxes(), lambda _: None)
