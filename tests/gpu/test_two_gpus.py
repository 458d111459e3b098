"""A challenge on two GPUs of one host, judged by a board of two (skipped on a host with one)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from grader.device_kinds import board_of
from grader.judge.device import Device, make_device
from grader.sandbox.box import BoxMaker
from grader.sandbox.choose import make_boxes
from grader.sandbox.gpu import find_gpus, together
from grader.sandbox.local_box import LocalBoxes
from grader.schemas.report import Verdict
from tests.components import need
from tests.gpus.judged import CARDS, judged_on, told


@pytest.fixture(scope="module")
def two() -> Device:
    gpus = find_gpus()
    if len(gpus) < 2:
        pytest.skip("one GPU only")
    made = make_device(board_of(together(gpus[:2])), *(gpu.index for gpu in gpus[:2]))
    made.baselines = ("eager",)  # type: ignore[misc]
    return made


@pytest.fixture(scope="module")
def docker_boxes() -> Iterator[BoxMaker]:
    need("docker")
    boxes = make_boxes("docker")
    yield boxes
    boxes.reap()


@pytest.fixture(scope="module")
def plain_boxes() -> Iterator[BoxMaker]:
    boxes = LocalBoxes()
    yield boxes
    boxes.reap()


@pytest.mark.parametrize("name", CARDS)
def test_several_gpus_each_source_gets_its_verdict(two: Device, plain_boxes: BoxMaker, name: str) -> None:
    report = judged_on(two, name, plain_boxes, timing="late" in name or "peer" in name)
    assert report.verdict is CARDS[name], told(report)


@pytest.mark.docker
def test_nccl_has_what_it_needs_in_a_docker_box(two: Device, docker_boxes: BoxMaker) -> None:
    report = judged_on(two, "all_reduce/nccl.cu", docker_boxes, timing=False)
    assert report.verdict is Verdict.ACCEPTED, told(report)
