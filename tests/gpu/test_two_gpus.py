"""A challenge on two GPUs of one host, judged by a board of two (skipped on a host with one)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from grader.challenge.catalogue import find_catalogue
from grader.device_kinds import board_of
from grader.judge.device import Device, make_device
from grader.judge.request import Request
from grader.judge.session import Session
from grader.languages import Language, usual
from grader.sandbox.box import BoxMaker
from grader.sandbox.choose import make_boxes
from grader.sandbox.gpu import find_gpus, together
from grader.sandbox.local_box import LocalBoxes
from grader.schemas.report import Verdict
from tests.components import need
from tests.gpus.judged import CARDS, judged_on, told

CATALOGUE = find_catalogue()
ON_TWO_GPUS = [slug for slug in CATALOGUE.slugs() if CATALOGUE.load(slug).manifest.gpus == 2]


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


@pytest.mark.parametrize("language", usual())
@pytest.mark.parametrize("slug", ON_TWO_GPUS)
def test_several_gpus_the_catalogues_solutions_are_accepted(
    two: Device, plain_boxes: BoxMaker, slug: str, language: Language
) -> None:
    challenge = CATALOGUE.load(slug)
    request = Request(
        challenge=challenge,
        language=language,
        source=challenge.solutions[language],
        device=two.name,
        seed_key=b"two gpus" * 4,
        cases=[*challenge.cases, *challenge.hidden_cases],
        timing=False,
    )
    report = Session(request, two, plain_boxes, lambda _: None, lambda: None).run().report
    assert report.verdict is Verdict.ACCEPTED, told(report)


@pytest.mark.docker
def test_nccl_has_what_it_needs_in_a_docker_box(two: Device, docker_boxes: BoxMaker) -> None:
    report = judged_on(two, "all_reduce/nccl.cu", docker_boxes, timing=False)
    assert report.verdict is Verdict.ACCEPTED, told(report)
