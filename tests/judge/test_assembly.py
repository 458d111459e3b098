"""Reports from measured times: which are known, their scores, and which submissions get a rank."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest

from grader.challenge.cases import Case, Category
from grader.challenge.catalogue import Catalogue
from grader.challenge.model import Grading
from grader.judge.assembly import TimedWorkload, report, reward_of, workload_report
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


@pytest.mark.parametrize(
    ("verdict", "sol", "reward"),
    [
        (Verdict.ACCEPTED, 0.25, 0.25),
        (Verdict.ACCEPTED, 1.04, 1.0),
        (Verdict.ACCEPTED, None, None),
        (Verdict.WRONG_ANSWER, 0.25, 0.0),
        (Verdict.INTERNAL_ERROR, 0.25, None),
    ],
)
def test_the_reward_is_the_share_of_light_speed_of_an_accepted_kernel(
    catalogue: Catalogue, verdict: Verdict, sol: float | None, reward: float | None
) -> None:
    workload = timed(catalogue, KNOWN).model_copy(update={"sol": sol})
    assert reward_of(verdict, [workload], judged(catalogue, workload).score) == pytest.approx(reward)


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
    # The time itself is public.
    assert unranked.workloads[0].time_us == 2000.0
    assert judged(catalogue, workload, "unranked").score.time_us == pytest.approx(2000.0)


def test_groups_of_cases_earn_their_points(catalogue: Catalogue) -> None:
    """Points of a group need every case of it and of the groups that it needs; hidden cases are only points."""
    challenge = catalogue.load("twice")
    groups = [
        {"name": "basics", "points": 10, "categories": ["basic"], "hidden": False},
        {"name": "edges", "points": 20, "categories": ["empty", "odd"], "needs": ["basics"]},
        {"name": "others", "points": 5, "cases": ["b"]},
    ]
    grading = Grading.model_validate({"correctness_points": 50, "groups": groups})
    manifest = challenge.manifest.model_copy(update={"grading": grading})
    cases = [
        Case("a", Category.BASIC, {"n": 1}),
        Case("b", Category.BASIC, {"n": 2}),
        Case("c", Category.EMPTY, {"n": 0}),
        Case("d", Category.ODD, {"n": 3}, hidden=True),
    ]

    def credit(wrong: str, public_only: bool = False) -> Report:
        reports = [
            CaseReport(
                name=case.name, category=case.category, verdict=verdict, detail=detail, hidden=case.hidden
            )
            for case in cases
            for bad in [case.name in wrong]
            for verdict, detail in [(CaseVerdict.WRONG_ANSWER, "no") if bad else (CaseVerdict.ACCEPTED, "")]
        ]
        request = Request(replace(challenge, manifest=manifest), Language.TRITON, "", CPU, b"key", cases)
        request = replace(request, public_only=public_only)
        verdict = Verdict.WRONG_ANSWER if wrong else Verdict.ACCEPTED
        return report(request, verdict, {}, {"cases": reports})

    # A case belongs to the first group that takes it, so "others" has none here and its points are for all
    # cases.
    assert [(group.name, group.points, group.most) for group in credit("").groups] == [
        ("basics", 10, 10),
        ("edges", 20, 20),
        ("all cases", 20, 20),
    ]
    assert (credit("").credit, credit("c").credit, credit("d").credit) == (1.0, 0.2, 0.2)
    told = credit("bd").redacted().groups
    assert [group.sentence for group in told] == [
        "1 of 2 cases are right",
        "nothing without 'basics'",
        "not every case is right",
    ]
    assert told[1].cases is None
    assert credit("b", public_only=True).credit is None
