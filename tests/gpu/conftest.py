"""The judge on a real GPU. Boxes are Docker's where an engine answers, plain processes as well."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from grader.challenge.loader import Course, find_course
from grader.judge.device import Device
from grader.judge.request import Request
from grader.judge.session import Session
from grader.sandbox.box import BoxMaker
from grader.schemas.report import Language, Report
from tests.components import need
from tests.judge.conftest import COURSE

Judge = Callable[..., Report]


@pytest.fixture(scope="session", autouse=True)
def _gpu() -> None:
    need("gpu")


@pytest.fixture(scope="session")
def device() -> Device:
    from grader.judge.device import make_device

    return make_device("h200", 0)


@pytest.fixture(scope="session", params=["local", "docker"])
def boxes(request: pytest.FixtureRequest) -> Iterator[BoxMaker]:
    if request.param == "docker":
        need("docker")
    from grader.sandbox.choose import make_boxes

    maker = make_boxes(request.param)
    yield maker
    maker.reap()


@pytest.fixture(scope="session")
def course() -> Course:
    return Course(COURSE)


@pytest.fixture(scope="session")
def catalogue() -> Course:
    return find_course()


@pytest.fixture
def judge(course: Course, device: Device, boxes: BoxMaker) -> Judge:
    def run(
        source: str, language: Language, slug: str = "twice", timing: bool = False, of: Course = course
    ) -> Report:
        challenge = of.load(slug)
        request = Request(
            challenge=challenge,
            language=language,
            source=source,
            device=device.name,
            seed_key=b"gpu tests" * 4,
            cases=[*challenge.cases, *challenge.hidden_cases],
            timing=timing,
        )
        return Session(request, device, boxes, lambda _: None, lambda: None).run().report

    return run
