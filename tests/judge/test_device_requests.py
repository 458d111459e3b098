"""A worker's other requests to its judge: is the device healthy, and what are its ceilings?"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from grader.errors import BoxUnavailable
from grader.judge.process import JudgeProcess


@pytest.fixture(scope="module")
def judge() -> Iterator[JudgeProcess]:
    with JudgeProcess("local", spare_boxes=0) as process:
        yield process


def test_a_probe_starts_a_fresh_child(judge: JudgeProcess) -> None:
    judge.warm_up()
    first = judge.pid
    judge.probe()
    assert judge.pid not in (None, first)


def test_a_host_has_no_ceilings_and_the_same_child_goes_on(judge: JudgeProcess) -> None:
    judge.warm_up()
    first = judge.pid
    assert judge.calibrate() == {}
    assert judge.pid == first


def test_a_child_that_was_killed_is_replaced_when_asked(judge: JudgeProcess) -> None:
    judge.warm_up()
    first = judge.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    judge.probe()
    assert judge.pid not in (None, first)


def test_a_gpu_that_is_not_there_fails_its_probe() -> None:
    with (
        JudgeProcess("local", spare_boxes=0, device="h200", gpu=7) as process,
        pytest.raises(BoxUnavailable, match="NVIDIA GPU"),
    ):
        process.probe()
