"""The control that a judge of a GPU keeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from grader import limits
from grader.challenge.catalogue import Catalogue
from grader.judge import kept_control
from grader.judge.host_device import HostDevice
from grader.judge.kept_control import KeptControl
from grader.judge.request import CPU, Request
from grader.judge.rule import ControlRound
from grader.judge.runner_client import RunnerClient
from grader.judge.session import Session
from grader.judge.timing import Stopwatch
from grader.languages import Language
from grader.sandbox.box import Box, BoxMaker, BoxPurpose, BoxSpec
from grader.schemas.report import Verdict
from tests.judge.kernels import RIGHT


class Client:
    def __init__(self) -> None:
        self.is_gone = self.closed = False
        self.serves: list[tuple[Callable[[], None], float]] = []

    def gone(self) -> bool:
        return self.is_gone

    def serve(self, interrupt: Callable[[], None], seconds: float) -> None:
        self.serves.append((interrupt, seconds))

    def close(self) -> None:
        self.closed = True


def nobody() -> None:
    """Interrupts nothing."""


def test_a_control_box_serves_several_submissions() -> None:
    kept, client = KeptControl(), Client()
    box: Any = client
    assert kept.take(nobody) is None
    kept.new()
    kept.give_back(box)
    assert [kept.take(nobody)] == [box]
    # Its box is older than the submission's, and must outlive it.
    assert client.serves == [(nobody, limits.JUDGING_CLOCK_SECONDS)]
    assert kept.take(nobody) is None, "who does not give it back ends it"
    kept.give_back(box)
    client.is_gone = True
    assert kept.take(nobody) is None
    assert client.closed


@pytest.mark.parametrize(("limit", "most"), [("_MOST_USES", 2), ("_OLDEST_SECONDS", 60.0)])
def test_a_control_box_is_replaced_after_its_limit(
    monkeypatch: pytest.MonkeyPatch, limit: str, most: float
) -> None:
    now = 1000.0
    monkeypatch.setattr("grader.judge.kept_control.time.monotonic", lambda: now)
    monkeypatch.setattr(kept_control, limit, most)
    kept, client = KeptControl(), Client()
    box: Any = client
    kept.new()
    kept.give_back(box)
    assert [kept.take(nobody)] == [box]
    kept.give_back(box)
    now += 60.0
    assert kept.take(nobody) is None
    assert client.closed


def test_trailing_control_rounds_serve_only_the_next_submission(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    challenge = catalogue.load("twice")
    workload = challenge.manifest.workloads[0]
    other = _larger(workload)
    kept, rounds = KeptControl(), [object()]
    some: Any = rounds
    kept.keep_rounds(challenge, workload, some)
    assert kept.rounds(challenge, [workload]) == [rounds]
    assert kept.rounds(challenge, [workload, other]) == [], "all of them, or none"
    kept.forget_rounds()
    assert kept.rounds(challenge, [workload]) == [], "a submission has run since"
    kept.keep_rounds(challenge, workload, some)
    monkeypatch.setattr(kept_control, "FRESH_SECONDS", 0.0)
    assert kept.rounds(challenge, [workload]) == []


def _larger(workload: Any) -> Any:
    return workload.model_copy(update={"sizes": {name: size + 1 for name, size in workload.sizes.items()}})


class Counting:
    def __init__(self, maker: BoxMaker) -> None:
        self.name, self.about = maker.name, maker.about
        self._maker = maker
        self.purposes: list[BoxPurpose] = []

    def start(self, spec: BoxSpec) -> Box:
        self.purposes.append(spec.purpose)
        return self._maker.start(spec)

    def reap(self) -> int:
        return self._maker.reap()


def test_a_session_passes_box_and_rounds_to_the_next(
    catalogue: Catalogue, boxes: BoxMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    halves: list[str] = []
    control = Stopwatch.control

    def counted(stopwatch: Stopwatch, client: RunnerClient) -> list[ControlRound]:
        halves.append(stopwatch._part)
        return control(stopwatch, client)

    monkeypatch.setattr(Stopwatch, "control", counted)
    monkeypatch.setattr(kept_control, "FRESH_SECONDS", 600.0)
    challenge, kept, counting = catalogue.load("twice"), KeptControl(), Counting(boxes)
    frozen = {workload.name: {"eager": None} for workload in challenge.manifest.workloads}
    for key in (bytes(32), bytes(31) + b"1"):
        request = Request(challenge, Language.TRITON, RIGHT, CPU, key, challenge.cases[:1], baselines=frozen)
        session = Session(request, HostDevice(), counting, lambda _: None, nobody, kept_control=kept)
        assert session.run().report.verdict is Verdict.ACCEPTED
    kept.close()
    assert counting.purposes.count(BoxPurpose.CONTROL) == 1
    workloads = len(request.workloads)
    assert len(halves) == 3 * workloads, "before and after the first, after the second"
