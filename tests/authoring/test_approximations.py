"""Timed rounds catch nearly right answers that once passed; an answer that still passes is reported."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch

from grader.authoring import odds as odds_module
from grader.authoring.approximations import Approximation, approximations, cut_in_range, rounded
from grader.authoring.calibrate import Calibration, compare, too_tight
from grader.authoring.odds import Rounds, Tried, odds
from grader.authoring.reduced import Reduced, reduced
from grader.authoring.verdicts import approximation_checks
from grader.challenge.cases import Case, Constant, Sprinkle, case
from grader.challenge.catalogue import find_catalogue
from grader.challenge.loader import Challenge
from grader.challenge.model import AllowedApproximations, Workload
from grader.judge.oracle import Question, answered, ask, draw_for
from grader.schemas.proof import ApproximationOutcome, Status
from tests.authoring.conftest import Write

CATALOGUE = find_catalogue()
SUMMED = CATALOGUE.load("reduce_sum")


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """As in a proving process: for so little work torch's threads wait longer than they compute."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def workload(challenge: Challenge, name: str) -> Workload:
    return next(workload for workload in challenge.manifest.workloads if workload.name == name)


def tried(challenge: Challenge, at: str, name: str) -> Tried:
    sized = reduced(challenge, workload(challenge, at))
    made = approximations(challenge, workload(challenge, at), sized.workload)
    (found,) = Rounds(challenge, sized, "cpu").try_all(
        [approximation for approximation in made if approximation.name == name]
    )
    return found


@pytest.mark.parametrize(
    ("slug", "at", "name", "kind"),
    [
        ("reduce_sum", "2^29", "expectation", "ordinary"),
        ("reduce_sum", "2^29", "unread:x:1%:tiles:mean", "outliers in x"),
        ("dot", "2^28", "ignored:b:mean", "outliers in a"),
        ("inclusive_scan", "2^28", "one_in_1024:last_7/8", "outliers in x"),
        ("argmax_rows", "61 x 8800001", "unread:x:1%:columns:least", "ordinary"),
        ("argmax_rows", "131072 x 4096", "nan_as_0", "nan"),
        ("relu", "2^28", "nan_dropped", "nan"),
        ("attention", "16 x 4096 x 64", "nan_dropped", "nan_q"),
        ("histogram", "2^29 in 256", "inputs:int16", "extremes"),
    ],
)
def test_approximations_that_once_passed_are_caught(slug: str, at: str, name: str, kind: str) -> None:
    found = tried(CATALOGUE.load(slug), at, name)
    assert found.probability < 0.01
    assert kind in found.shown_by


def test_an_unread_part_passes_if_no_round_has_outliers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawn at a smaller size, with chance weighed as in the workload's longer sums."""
    monkeypatch.setattr(odds_module, "overlays", lambda *_: [])
    found = tried(SUMMED, "2^29", "unread:x:1%:tiles:mean")
    assert found.probability > 0.5
    assert found.shown_by == []


def test_a_passing_approximation_is_weak_unless_allowed() -> None:
    own = SUMMED.manifest.model_copy(update={"approximations": []})
    strict = replace(SUMMED, manifest=own)
    at = workload(SUMMED, "interpreter")
    open_ones = {
        result.name: result
        for result in odds(strict, at, "cpu", whole=True).results
        if result.outcome == "passes"
    }
    assert "inputs:tf32" in open_ones
    weak, *_ = approximation_checks(list(open_ones.values()), [])
    assert weak.status is Status.WEAK
    assert any(line.startswith("inputs:tf32 (") and "1 at interpreter" in line for line in weak.details)
    allowed = {result.name: result for result in odds(SUMMED, at, "cpu", whole=True).results if result.reason}
    assert set(allowed) == set(open_ones)
    check, *_ = approximation_checks(list(allowed.values()), [])
    assert check.status is Status.OK
    assert any(line.startswith("allowed: inputs:bf16x2") for line in check.remarks)


def test_an_allowance_can_name_workloads() -> None:
    allowed = AllowedApproximations(names=["inputs:*:x", "zeros"], workloads=["2^20"], reason="why")
    assert allowed.allows("inputs:bf16:x", "2^20")
    assert not allowed.allows("inputs:bf16:x", "2^21")
    assert not allowed.allows("inputs:bf16:y", "2^20")


def test_special_inputs_that_do_not_fit_are_reported() -> None:
    sparse = CATALOGUE.load("spmv_csr")
    last = case("last", "range", rows=20, cols=5000, nnz=90, inputs={"col": Constant(4999)}, timed=True)
    sparse = replace(sparse)
    sparse.__dict__["cases"] = [last]
    found = Rounds(sparse, Reduced(workload(sparse, "interpreter"), 1.0), "cpu")
    made = approximations(sparse, found.workload)
    found.try_all([approximation for approximation in made if approximation.name == "inputs:bf16x2:x"])
    assert "last" in found.misfits


def test_an_index_beyond_an_array_is_found_before_a_gpu_meets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a GPU it would end PyTorch's process. Here the CPU answers for it."""
    on_gpu: set[str] = set()

    def recorded(challenge: Challenge, case: Case, inputs: dict[str, torch.Tensor], device: str) -> Question:
        assert device == "cuda"
        on_gpu.add(case.name.removeprefix("workload emulated GPU, "))
        return answered(challenge, case, inputs)

    monkeypatch.setattr(odds_module, "answered", recorded)
    monkeypatch.setattr(odds_module, "ask", lambda challenge, case, seed, *_: ask(challenge, case, seed))
    monkeypatch.setattr(
        odds_module, "draw_for", lambda challenge, case, seed, *_: draw_for(challenge, case, seed, "cpu")
    )
    challenge = CATALOGUE.load("cross_entropy")
    asked = workload(challenge, "emulated GPU").model_copy(update={"sizes": {"rows": 30, "cols": 1200}})
    found = Rounds(challenge, Reduced(asked, 1.0), "cuda")
    # Right on every case, so all approximations are compared with it.
    found.try_all([Approximation("right", "right", lambda draw: draw.question.outputs, 0.0)])
    assert {"ignored", "first_class"} < on_gpu
    # Labels up to 5002 and 70,000.
    assert not {"ignored_in_long_rows", "last_of_70001"} & on_gpu


@pytest.mark.parametrize(
    ("slug", "at", "kept", "factor"),
    [
        ("softmax", "65536 x 4096", {"cols": 4096}, 1),
        ("matmul", "4096 cube", {"k": 4096}, 1),
        ("reduce_sum", "2^29", {}, 2048),
        ("spmv_csr", "2^22 rows of 42", {}, 1),
    ],
)
def test_reduced_workloads_keep_the_length_of_sums(
    slug: str, at: str, kept: dict[str, int], factor: float
) -> None:
    challenge = CATALOGUE.load(slug)
    found = reduced(challenge, workload(challenge, at))
    assert {name: found.workload.sizes[name] for name in kept} == kept
    assert found.factor == factor
    if slug == "spmv_csr":
        assert found.workload.sizes["nnz"] / found.workload.sizes["rows"] == pytest.approx(42, rel=0.1)


@pytest.mark.parametrize(
    ("form", "value", "near"),
    [
        ("bf16x2", 1 + 2.0**-9 + 2.0**-19, 1 + 2.0**-9),
        ("tf32", 1 + 2.0**-10 + 2.0**-12, 1 + 2.0**-10),
        ("fp16", 1 + 2.0**-10 + 2.0**-12, 1 + 2.0**-10),
        ("bf16", 1 + 2.0**-7 + 2.0**-9, 1 + 2.0**-7),
        ("e4m3", 500.0, 448.0),
        ("e5m2", 1.3, 1.25),
    ],
)
def test_rounding_keeps_the_digits_of_the_format(form: str, value: float, near: float) -> None:
    special = torch.tensor([value, float("nan"), float("inf"), -float("inf")])
    assert torch.equal(
        rounded(special, form).nan_to_num(7.0), torch.tensor([near, 7.0, *special[2:]]).nan_to_num(7.0)
    )


def test_rounds_that_native_precision_fails_are_reported() -> None:
    """Next to e^30, float32 loses the other terms of a long row."""
    softmax = replace(CATALOGUE.load("softmax"))
    softmax.__dict__["cases"] = [
        case("peaks", "huge", rows=1, cols=9, inputs={"x": Sprinkle(16.0, 0.01)}, timed=True)
    ]
    at = Workload(name="long", sizes={"rows": 1, "cols": 1 << 17}, on="gpu")
    found = odds(softmax, at, "cpu", whole=True)
    *_, fair = approximation_checks(found.results, found.misfits, found.unfair)
    assert fair.status is Status.ERROR
    assert "long, peaks" in fair.summary


def test_a_new_challenge_catches_every_approximation(write: Write) -> None:
    made = write().challenge
    found = odds(made, made.manifest.workloads[-1], "cpu", whole=False)
    assert [result.name for result in found.results if result.outcome is ApproximationOutcome.PASSES] == []


def test_answers_that_the_checker_accepts_are_right() -> None:
    """PyTorch's own, and approximations, which pass if it accepts anything."""
    anything = replace(SUMMED, checker=lambda given, got, want: None)
    assert tried(anything, "interpreter", "zeros").probability == 1
    asked = ask(anything, SUMMED.cases[0], 1)
    assert compare(anything, SUMMED.cases[0], asked, negated) == ([], [])
    measured, _ = compare(SUMMED, SUMMED.cases[0], ask(SUMMED, SUMMED.cases[0], 1), negated)
    assert too_tight(Calibration(measured, []))


def negated(**given: object) -> torch.Tensor:
    found: torch.Tensor = -SUMMED.reference.compute(**given)
    return found


def test_an_index_that_is_cut_stays_in_range() -> None:
    """Protects check on a GPU, where an index of the reference beyond its array ends the process."""
    values = torch.tensor([0, 5, 300, 16_383], dtype=torch.uint16)
    cut = cut_in_range(values, "int8")
    assert cut.dtype == values.dtype
    assert cut.tolist() == [0, 5, 44, 0]  # 16,383 is -1 in eight bits
    labels = cut_in_range(torch.tensor([-100, 2, 300, 16_383]), "int8")
    assert labels.tolist() == [-100, 2, 44, 2]  # -100 is no label, and -1 would be none
