"""Arguments of every kind, from challenge.toml to kernel and report: the challenges of tests/signatures.

``GRADER_PROVE=all`` judges each of their kernels; otherwise the right ones in Triton on ``cpu``, and a few
more.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grader.challenge.catalogue import Catalogue
from grader.device_kinds import CPU, EMULATED
from grader.judge.at_home import judge_at_home
from grader.judge.oracle import ask
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.schemas.report import Report, Verdict
from tests.components import need

SIGNATURES = Catalogue(Path(__file__).parent.parent / "signatures")
# Kernels that are judged at each commit, by board; with a wrong one's failure.
CHOSEN = {
    (CPU, "adam/solution.py"): "",
    (CPU, "adam/mutants/first_step.py"): "late_step: p[0] is",
    (CPU, "cross_entropy/solution.py"): "",
    (CPU, "cross_entropy/mutants/workspace_not_set.py"): "basic: loss[0] is nan",
    (CPU, "kept_rows/solution.py"): "",
    (CPU, "pitched_transpose/solution.py"): "",
    (
        CPU,
        "pitched_transpose/mutants/whole_pitch.py",
    ): "basic: The padding of out was written: 120 elements, the first at [0, 20].",
    (CPU, "topk/solution.py"): "",
    (EMULATED, "adam/solution.cu"): "",
}
OTHERS = {
    (EMULATED, "adam/mutants/always_scaled.cu"): "unscaled: Line 11: Thread 0 of block 1 reads 4 bytes",
    (EMULATED, "adam/solution.py"): "",
    (EMULATED, "cross_entropy/solution.cu"): "",
    (EMULATED, "cross_entropy/solution.py"): "",
    (
        EMULATED,
        "cross_entropy/mutants/workspace_not_set.cu",
    ): "basic: Line 9: Thread 0 of block 0 uses a value from memory that was never written",
    (EMULATED, "kept_rows/solution.cu"): "",
    (EMULATED, "kept_rows/mutants/last_missing.cu"): "basic: turned[2, 0] was never written",
    (EMULATED, "kept_rows/solution.py"): "",
    (EMULATED, "pitched_transpose/solution.cu"): "",
    (EMULATED, "pitched_transpose/solution.py"): "",
    (
        EMULATED,
        "pitched_transpose/mutants/whole_pitch.cu",
    ): "basic: The padding of out was written: 30 elements",
    (EMULATED, "topk/solution.cu"): "",
    (EMULATED, "topk/solution.py"): "",
    (EMULATED, "topk/mutants/smallest.cu"): "basic: values[0, 0] is",
    (CPU, "kept_rows/mutants/last_missing.py"): "basic: count[0] is 26, expected 27",
    (CPU, "topk/mutants/first_again.py"): "basic: values[0, 1] is",
}
EVERY = os.environ.get("GRADER_PROVE") == "all"
JUDGED = CHOSEN | (OTHERS if EVERY else {})


def written_in(path: str) -> Language:
    return next(language for language in Language if path.endswith(language.suffix))


def judged(boxes: BoxMaker, board: str, path: str) -> Report:
    slug, _, name = path.partition("/")
    source = SIGNATURES.root / "reference" / slug / "staff" / name
    language = written_in(source.name)
    if board == EMULATED:
        need("emulator")
    if language.compiled:
        need("nvcc")
    return judge_at_home(
        SIGNATURES.load(slug), source.read_text(), language, boxes, device=board, timing=False
    )


@pytest.mark.parametrize(("board", "path"), JUDGED, ids=str)
def test_right_kernels_pass_and_reports_say_why_wrong_ones_fail(
    boxes: BoxMaker, board: str, path: str
) -> None:
    report = judged(boxes, board, path)
    failed = [f"{case.name}: {case.detail}" for case in report.cases if case.detail]
    wanted = JUDGED[board, path]
    if wanted:
        assert failed[0].startswith(wanted)
    else:
        assert (report.verdict, failed) == (Verdict.ACCEPTED, [])


@pytest.mark.in_turn
def test_a_timed_workload_overrides_scalars_and_leaves_inputs_out(boxes: BoxMaker) -> None:
    """They reach the baseline, too, which would raise without them."""
    source = SIGNATURES.root / "reference" / "adam" / "staff" / "solution.py"
    report = judge_at_home(
        SIGNATURES.load("adam"), source.read_text(), Language.TRITON, boxes, device=CPU, timing=True
    )
    assert [workload.name for workload in report.workloads] == ["plain", "scaled"]
    assert report.verdict is Verdict.ACCEPTED
    for each in report.workloads:
        # On a busy host its times may differ too much; a missing argument would be another reason.
        why = each.untimed_baselines.get("eager", "its times differ too much")
        assert why == "its times differ too much"


def test_the_reference_gets_views_with_the_arguments_strides() -> None:
    challenge = SIGNATURES.load("pitched_transpose")
    seen: list[tuple[int, ...]] = []

    def watched(**given: object) -> object:
        seen.append(given["x"].stride())  # type: ignore[attr-defined]
        return given["x"].T  # type: ignore[attr-defined]

    object.__setattr__(challenge.reference, "compute", watched)
    ask(challenge, challenge.case("basic"), 1)
    assert seen == [(32, 1)]
