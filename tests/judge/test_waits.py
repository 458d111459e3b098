"""A case that is wrong for lack of a wait is called again with the gate open."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from grader.challenge.catalogue import Catalogue
from grader.judge.correctness import Suite
from grader.judge.host_device import HostDevice
from grader.judge.launch import Launcher
from grader.judge.request import CPU, Request
from grader.judge.runner_client import Answer, RunnerClient
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.schemas.report import CaseVerdict
from tests.judge.kernels import RIGHT

WRONG = "def solve(x, out, n):\n    out.copy_(3 * x)\n"


class Waiting(RunnerClient):
    """A box whose calls behind the closed gate are wrong, as if a wait in them had returned at once."""

    calls = ""

    def call(self, arena: Any, inputs: Any, *args: Any, **more: Any) -> Answer:
        if self.needs_open_gate:
            return super().call(arena, inputs, *args, **more)
        self.calls += "c"
        answer = super().call(arena, inputs, *args, **more)
        arena.reveal(inputs)
        return replace(answer, waits_left_out=True)

    def open_call(self, *args: Any, **more: Any) -> Answer:
        self.calls += "o"
        return super().open_call(*args, **more)


@pytest.fixture
def launcher(catalogue: Catalogue, boxes: BoxMaker, request: pytest.FixtureRequest) -> Iterator[Launcher]:
    challenge = catalogue.load("twice")
    cases = [case for case in challenge.cases if case.sizes["n"]][:3]
    wanted = Request(challenge, Language.TRITON, request.param, CPU, bytes(32), cases)
    launcher = Launcher(wanted, HostDevice(), boxes, lambda: None)
    yield launcher
    launcher.close()


@pytest.mark.parametrize(
    ("launcher", "verdict", "calls"),
    [(RIGHT, CaseVerdict.ACCEPTED, "cooo"), (WRONG, CaseVerdict.WRONG_ANSWER, "cococo")],
    indirect=["launcher"],
)
def test_a_case_that_needs_its_waits_is_repeated_with_the_gate_open(
    launcher: Launcher, verdict: CaseVerdict, calls: str
) -> None:
    """Once for all cases; otherwise a kernel that is sometimes wrong would be called twice in each."""
    client, request = launcher.submission(), launcher.request
    client.__class__ = Waiting
    suite = Suite(
        request.challenge,
        request.cases,
        request.seed_of,
        launcher.submission,
        lambda *_: None,
        launcher.device,
    )
    assert suite.run(client) is client
    assert [case.verdict for case in suite.reports] == [verdict] * 3, suite.reports
    assert vars(client)["calls"] == calls
