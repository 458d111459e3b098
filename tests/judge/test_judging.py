"""Right and wrong submissions through judge and runner, two processes, for real."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader.challenge.catalogue import Catalogue
from grader.device_kinds import CPU
from grader.judge.at_home import judge_at_home
from grader.judge.host_device import HostDevice
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.schemas.report import CaseReport, CaseVerdict, HiddenCases, Report, Verdict
from tests.judge.conftest import CATALOGUE, WHOLE_PLAN, Judge
from tests.judge.kernels import HEAD, RIGHT, with_solve

# Seconds: long compared with the cost of a round, even on a busy machine.
REFERENCE_S = 0.1


def case_of(report: Report, name: str) -> CaseReport:
    return next(case for case in report.cases if case.name == name)


def test_a_right_kernel_is_accepted_and_timed(judge: Judge) -> None:
    report = judge(RIGHT, timing=True)
    assert report.verdict is Verdict.ACCEPTED
    assert [case.name for case in report.cases] == ["basic", "empty", "one", "prime", "nan", "secret"]
    assert (report.score.passed, report.score.total) == (6, 6)
    (workload,) = report.workloads
    assert workload.ci_us[1] > 0  # whether the time is known depends on the machine
    assert not report.representative


def test_the_reference_is_timed_for_a_baseline(
    boxes: BoxMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HostDevice, "plan", WHOLE_PLAN)
    catalogue = shutil.copytree(CATALOGUE, tmp_path / "catalogue")
    file = catalogue / "reference" / "twice" / "reference.py"
    slow = f"    import time\n    time.sleep({REFERENCE_S})\n    return 2 * x"
    file.write_text(file.read_text().replace("    return 2 * x", slow))
    source = with_solve(f"    time.sleep({REFERENCE_S})\n    out.copy_(2 * x)")
    report = judge_at_home(Catalogue(catalogue).load("twice"), source, Language.TRITON, boxes, device=CPU)
    (workload,) = report.workloads
    eager = workload.baselines_us["eager"]
    assert REFERENCE_S * 0.8 < eager * 1e-6 < REFERENCE_S * 4
    assert workload.time_us is not None
    assert report.score.speedup == pytest.approx(eager / workload.time_us)


def test_the_same_seed_draws_the_same_data(judge: Judge) -> None:
    wrong = with_solve("    twice[(1,)](x, out, n, BLOCK=64)")
    whole = case_of(judge(wrong), "prime")
    again = judge(wrong, case="prime", seed=whole.seed)
    assert [case.name for case in again.cases] == ["prime"]
    assert again.cases[0].mismatch == whole.mismatch
    other = judge(wrong, case="prime", seed=(whole.seed or 0) + 1)
    assert other.cases[0].mismatch != whole.mismatch


def test_a_missing_tail_names_element_seed_and_count(judge: Judge) -> None:
    report = judge(with_solve("    twice[(n // 64,)](x, out, n, BLOCK=64)"))
    assert report.verdict is Verdict.WRONG_ANSWER
    prime = case_of(report, "prime")
    assert prime.mismatch is not None
    assert (prime.mismatch.kind, prime.mismatch.index, prime.mismatch.wrong) == ("unwritten", [64], 101 - 64)
    assert prime.seed is not None
    assert prime.sizes == {"n": 101}
    assert case_of(report, "basic").verdict is CaseVerdict.ACCEPTED


def test_all_cases_run_after_a_failure(judge: Judge) -> None:
    report = judge(with_solve("    out.fill_(1.0)"))
    assert len(report.cases) == 6
    assert report.score.passed == 1


def test_changing_an_input_is_wrong(judge: Judge) -> None:
    report = judge(with_solve("    out.copy_(2 * x); x.zero_()"))
    assert report.verdict is Verdict.WRONG_ANSWER
    assert "input" in case_of(report, "basic").detail


def test_writing_past_the_end_is_wrong(judge: Judge) -> None:
    source = RIGHT.replace("mask = offsets < n", "mask = offsets < n + 1")
    report = judge(source)
    prime = case_of(report, "prime")
    assert prime.mismatch is not None
    assert (prime.mismatch.kind, prime.mismatch.outside) == ("out_of_bounds", [101])
    assert "outside out: 1 element after its end, at flat index 101" in prime.detail


def test_adding_to_an_output_that_was_never_cleared_is_explained(judge: Judge) -> None:
    source = RIGHT.replace("tl.store(out + offsets, 2 * tl.load(x + offsets, mask=mask), mask=mask)", "pass")
    for operation, kind in (("add", "not_cleared"), ("max", "unwritten")):
        stored = f"tl.atomic_{operation}(out + offsets, 2 * tl.load(x + offsets, mask=mask), mask=mask)"
        (basic,) = judge(source.replace("pass", stored), case="basic").cases
        assert basic.mismatch is not None
        assert basic.mismatch.kind == kind
        assert "out is not cleared for you" in basic.hint


@pytest.mark.parametrize("beyond", [">", "<"])
def test_a_maximum_or_minimum_with_an_uncleared_output_is_wrong(judge: Judge, beyond: str) -> None:
    """These drop a NaN, so only a number shows them."""
    twice = "2 * tl.load(x + offsets, mask=mask)"
    held = "tl.load(out + offsets, mask=mask)"
    report = judge(
        RIGHT.replace(
            f"tl.store(out + offsets, {twice}, mask=mask)",
            f"tl.store(out + offsets, tl.where({held} {beyond} {twice}, {held}, {twice}), mask=mask)",
        )
    )
    assert report.verdict is Verdict.WRONG_ANSWER
    assert case_of(report, "basic").verdict is CaseVerdict.ACCEPTED
    failed = [case for case in report.cases if case.mismatch]
    assert {case.mismatch.kind for case in failed if case.mismatch} == {"unwritten"}
    assert any("take a maximum or minimum with it" in case.hint for case in failed)


def test_adding_to_an_uncleared_integer_is_explained(judge: Judge) -> None:
    source = """
import triton
import triton.language as tl

@triton.jit
def count_up(count, total):
    tl.atomic_add(count, total)

def solve(x, y, count, alpha, rows, cols):
    y += alpha * x
    count_up[(1,)](count, rows * cols)
"""
    (basic,) = judge(source, slug="axpy", case="basic").cases
    assert basic.mismatch is not None
    assert (basic.mismatch.argument, basic.mismatch.kind, basic.mismatch.expected) == (
        "count",
        "not_cleared",
        "15",
    )


def test_a_wild_write_ends_the_process_and_costs_a_fresh_box(judge: Judge) -> None:
    source = RIGHT.replace(
        "tl.store(out + offsets", "tl.store(out + offsets + (n == 101).to(tl.int64) * 100000000"
    )
    report = judge(source)
    assert case_of(report, "prime").verdict is CaseVerdict.RUNTIME_ERROR
    assert "signal" in case_of(report, "prime").detail
    assert case_of(report, "nan").verdict is CaseVerdict.ACCEPTED


@pytest.mark.parametrize(
    ("value", "verdict"),
    [
        ("torch.zeros(n, dtype=torch.float16)", CaseVerdict.WRONG_ANSWER),
        ("2 * x[:, None]", CaseVerdict.RUNTIME_ERROR),
    ],
)
def test_writing_a_wrong_dtype_or_shape_is_reported(judge: Judge, value: str, verdict: CaseVerdict) -> None:
    report = judge(with_solve(f"    out.copy_({value})"), case="basic")
    assert report.cases[0].verdict is verdict


def test_a_new_tensor_instead_of_out_is_reported_as_unwritten(judge: Judge) -> None:
    report = judge(with_solve("    out = 2 * x\n    return out"), case="basic")
    assert report.cases[0].mismatch is not None
    assert report.cases[0].mismatch.kind == "unwritten"


def test_autotune_with_several_configurations_works(judge: Judge) -> None:
    source = HEAD.replace(
        "@triton.jit",
        '@triton.autotune(configs=[triton.Config({"BLOCK": b}) for b in (32, 64, 128)], key=["n"])\n@triton.jit',
    ) + (
        "\ndef solve(x, out, n):\n    if n:\n"
        "        twice[lambda meta: (triton.cdiv(n, meta['BLOCK']),)](x, out, n)\n    torch.cuda.synchronize()\n"
    )
    report = judge(source)
    assert report.verdict is Verdict.ACCEPTED, report.cases


def test_in_outs_scalars_and_two_outputs_work(judge: Judge) -> None:
    source = """
import triton
import triton.language as tl

@triton.jit
def axpy(x, y, count, alpha, total, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < total
    tl.store(y + offsets, alpha * tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask=mask)
    tl.store(count, total)

def solve(x, y, count, alpha, rows, cols):
    axpy[(1,)](x, y, count, alpha, rows * cols, BLOCK=256)
"""
    report = judge(source, slug="axpy", timing=True)
    assert report.verdict is Verdict.ACCEPTED, report.cases
    assert report.version == 3


def test_printed_output_is_shown_with_its_case(judge: Judge) -> None:
    report = judge(with_solve("    print('n is', n)\n    out.copy_(2 * x)"), case="prime")
    assert report.verdict is Verdict.ACCEPTED
    assert "n is 101" in report.cases[0].output


def test_hidden_cases_lose_their_data_in_the_redacted_report(judge: Judge) -> None:
    report = judge(with_solve("    twice[(n // 64,)](x, out, n, BLOCK=64)"))
    told = report.redacted()
    assert report.cases[-1].sizes == {"n": 333}
    assert not any(case.hidden for case in told.cases)
    assert told.hidden == HiddenCases(passed=0, total=1)
    assert '"secret"' not in told.model_dump_json()


def test_a_launch_of_zero_blocks_is_explained(judge: Judge) -> None:
    source = """
import triton
import triton.language as tl

@triton.jit
def axpy(x, y, count, alpha, total, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < total
    tl.store(y + offsets, alpha * tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask=mask)
    tl.store(count, total)

def solve(x, y, count, alpha, rows, cols):
    axpy[(triton.cdiv(rows * cols, 64),)](x, y, count, alpha, rows * cols, BLOCK=64)
"""
    report = judge(source, slug="axpy")
    empty = case_of(report, "no_rows")
    assert empty.verdict is CaseVerdict.WRONG_ANSWER
    assert "zero blocks" in empty.hint
    assert "rows = 0" in empty.hint
    assert "neutral value" in empty.hint
