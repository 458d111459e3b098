"""Reports from measured times: which are known, their scores, and which submissions get a rank."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest

from grader.challenge.catalogue import Catalogue
from grader.judge.assembly import TimedWorkload, report, workload_report
from grader.judge.host_device import HostDevice
from grader.judge.request import CPU, Request
from grader.judge.rule import Measured
from grader.languages import Language
from grader.schemas.report import CaseReport, CaseVerdict, Flag, Report, Verdict, WorkloadReport
from grader.scoring import SHORTEST_S, Estimate

EAGER_US = 4120.0
KNOWN = Measured(Estimate(2e-3, (1.9e-3, 2.1e-3)), 15, 0.0, 0.0, 4e-3, 1e-5, 0.0, (0.0, 0.0), 0.0, gated=True)
UNKNOWN = {
    "nothing at all": replace(KNOWN, time=Estimate(SHORTEST_S, (SHORTEST_S, 2e-2))),
    "nothing, and sure of it": replace(KNOWN, time=Estimate(SHORTEST_S, (SHORTEST_S, SHORTEST_S))),
    "a wide interval above": replace(KNOWN, time=Estimate(2e-3, (1.9e-3, 2.5e-3))),
    "a wide interval below": replace(KNOWN, time=Estimate(2e-3, (1.5e-3, 2.1e-3))),
    "less than the control's halves differ by": replace(KNOWN, drift=2.5e-3),
}


def timed(catalogue: Catalogue, measured: Measured) -> WorkloadReport:
    challenge = catalogue.load("twice")
    workload = next(workload for workload in challenge.manifest.workloads if workload.on == "cpu")
    return workload_report(
        challenge.manifest, TimedWorkload(workload, measured, {"eager": EAGER_US}), HostDevice()
    )


def judged(
    catalogue: Catalogue, workload: WorkloadReport, rule: Literal["flag", "unranked"] = "flag", *ops: str
) -> Report:
    challenge = catalogue.load("twice")
    manifest = challenge.manifest.model_copy(update={"library_kernels": rule})
    passed = CaseReport(name="basic", category="basic", verdict=CaseVerdict.ACCEPTED)
    request = Request(
        replace(challenge, manifest=manifest), Language.TRITON, "", CPU, b"key", challenge.cases
    )
    found = {"cases": [passed], "workloads": [workload], "library_ops": ops}
    return report(request, Verdict.ACCEPTED, {}, found)  # type: ignore[arg-type]


def test_a_known_time_has_speedup_and_score(catalogue: Catalogue) -> None:
    workload = timed(catalogue, KNOWN)
    assert (workload.time_us, workload.speedup) == (2000.0, pytest.approx(2.06))
    score = judged(catalogue, workload).score
    assert (score.time_us, score.speedup, score.unranked) == (pytest.approx(2000.0), pytest.approx(2.06), "")


@pytest.mark.parametrize("measured", UNKNOWN.values(), ids=UNKNOWN)
def test_an_unknown_time_is_too_short_to_measure(catalogue: Catalogue, measured: Measured) -> None:
    workload = timed(catalogue, measured)
    assert (workload.time_us, workload.speedup, workload.sol) == (None, None, None)
    score = judged(catalogue, workload).score
    assert (score.time_us, score.ci, score.speedup) == (None, None, None)
    assert score.unranked == "Workload 'small' is too short to measure here."


def test_library_calls_have_no_rank_if_the_challenge_forbids_them(catalogue: Catalogue) -> None:
    workload = timed(catalogue, KNOWN)
    flagged = judged(catalogue, workload, "flag", "aten.add")
    unranked = judged(catalogue, workload, "unranked", "aten.add")
    assert flagged.flags == unranked.flags == [Flag.LIBRARY_KERNEL]
    assert (flagged.score.time_us, flagged.score.unranked) == (pytest.approx(2000.0), "")
    assert (unranked.score.time_us, unranked.score.speedup) == (None, None)
    assert "ranks only your own kernels" in unranked.score.unranked
    # The time itself is nobody's secret.
    assert unranked.workloads[0].time_us == 2000.0
    assert judged(catalogue, workload, "unranked").score.time_us == pytest.approx(2000.0)
