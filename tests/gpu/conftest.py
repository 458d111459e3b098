"""The judge on a real GPU. Boxes are Docker's if an engine answers, and plain processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from grader.challenge.catalogue import Catalogue, find_catalogue
from grader.challenge.loader import Challenge
from grader.judge.device import Device
from grader.judge.launch import submission_spec
from grader.judge.request import Request
from grader.judge.session import Session
from grader.languages import Language
from grader.sandbox.box import Box, BoxSpec
from grader.sandbox.pool import SpareBoxes
from grader.schemas.artefact import Artefact
from grader.schemas.report import Report
from tests.components import need
from tests.gpu.builders import GPU
from tests.judge.conftest import CATALOGUE

Judge = Callable[..., Report]
# Elements of timed arrays, enough for a rank: a short call's time may be unknown while other boxes start.
LONG = 300_000_000


@pytest.fixture(scope="session", autouse=True)
def _gpu() -> None:
    need("gpu")


@pytest.fixture(scope="session")
def device() -> Device:
    from grader.judge.device import make_device

    return make_device("h200", GPU)


class Refilled(SpareBoxes):
    """Refilled spare boxes of one kind, so that no test waits for torch's import."""

    def start(self, spec: BoxSpec) -> Box:
        box = super().start(spec)
        self.refill()
        return box

    def quiet(self) -> None:
        """No box uses the GPU until it is asked, as during timing."""
        self.hold()
        if isinstance(self._maker, Refilled):
            self._maker.quiet()


@pytest.fixture(scope="session", params=["local", "docker"])
def boxes(request: pytest.FixtureRequest, device: Device) -> Iterator[Refilled]:
    if request.param == "docker":
        need("docker")
    from grader.sandbox.choose import make_boxes

    maker = make_boxes(request.param)
    cuda, triton = (submission_spec(device, language, 0) for language in (Language.CUDA, Language.TRITON))
    inner = Refilled(maker, cuda, 1)
    outer = Refilled(inner, triton, 2)
    yield outer
    outer.close()
    inner.close()
    maker.reap()


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    return Catalogue(CATALOGUE)


@pytest.fixture(scope="session")
def served() -> Catalogue:
    return find_catalogue()


def _lengthened(challenge: Challenge) -> Challenge:
    (workload,) = (workload for workload in challenge.manifest.workloads if workload.on == "gpu")
    longer = workload.model_copy(update={"sizes": {"n": LONG}})
    return replace(challenge, manifest=challenge.manifest.model_copy(update={"workloads": [longer]}))


@pytest.fixture
def judge(catalogue: Catalogue, device: Device, boxes: Refilled) -> Judge:
    def run(
        source: str,
        language: Language,
        slug: str = "twice",
        timing: bool = False,
        of: Catalogue = catalogue,
        artefact: Artefact | None = None,
    ) -> Report:
        challenge = of.load(slug)
        request = Request(
            challenge=_lengthened(challenge) if timing else challenge,
            language=language,
            source=source,
            device=device.name,
            seed_key=b"gpu tests" * 4,
            cases=[*challenge.cases, *challenge.hidden_cases],
            timing=timing,
            artefact=artefact,
        )
        return Session(request, device, boxes, lambda _: None, lambda: None, boxes.quiet).run().report

    return run
