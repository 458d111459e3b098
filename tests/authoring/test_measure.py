"""A timed run finds an impossible cost model: on the host, with a GPU's ceilings."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from grader.authoring.candidates import subjects
from grader.authoring.measure import calibrated_check, measured_check
from grader.authoring.trial import Trial
from grader.judge.host_device import HostDevice
from grader.languages import Language
from grader.schemas.proof import CandidateRole, Check, Status
from tests.authoring.conftest import Made, Write


class Lit(HostDevice):
    def __init__(self, bandwidth: float) -> None:
        self.bandwidth = bandwidth

    def ceilings(self) -> Mapping[str, float]:
        return {"bandwidth": self.bandwidth, "rate:float32": 1e30} if self.bandwidth else {}


@pytest.fixture
def made(write: Write) -> Made:
    """Its GPU workloads are as small as possible."""
    made = write()
    path = made.challenge.folder / "challenge.toml"
    path.write_text(re.sub(r"n = \d{6,}", "n = 3000", path.read_text()))
    return made


def _measured(made: Made, bandwidth: float) -> Check:
    bench = Trial(made.challenge, Lit(bandwidth), made.boxes)
    solutions = [
        candidate
        for candidate in subjects(bench.challenge, (Language.TRITON,))
        if candidate.role is CandidateRole.SOLUTION
    ]
    return measured_check(bench, solutions)


def test_a_time_above_the_roofline_passes(made: Made) -> None:
    """By a margin that three noisy rounds on a busy host cannot close."""
    check = _measured(made, bandwidth=1e20)
    assert check.status is Status.OK
    assert re.search(r"solution.py: \d+ us, 0.00 of the speed of light", check.summary)


def test_a_time_below_the_roofline_means_a_wrong_cost(made: Made) -> None:
    check = _measured(made, bandwidth=1e3)
    assert check.status is Status.ERROR
    assert "cost.bytes or cost.flops is too high" in check.summary


def test_a_solution_that_is_wrong_at_a_workload_is_found(made: Made) -> None:
    made.edit("staff/solution.py", "values + values", "values")
    check = _measured(made, bandwidth=1e12)
    assert check.status is Status.ERROR
    assert "its answer is wrong" in check.summary


def test_nothing_is_measured_without_ceilings(made: Made) -> None:
    assert _measured(made, bandwidth=0).status is Status.SKIPPED


def test_the_tolerance_is_checked_at_the_workloads(made: Made) -> None:
    bench = Trial(made.challenge, Lit(1e12), made.boxes)
    assert calibrated_check(bench).status is Status.OK
    made.edit("reference.py", "return x + x", "return torch.exp(torch.sin(x))")
    check = calibrated_check(Trial(made.challenge, Lit(1e12), made.boxes))
    assert check.status is Status.ERROR
    assert "native PyTorch uses" in "".join([check.summary, *check.details])
