"""What a person reads of a report."""

from __future__ import annotations

import pytest
from rich.console import Console

from grader.cli.report_view import factor_text, put_report, time_text
from grader.schemas.hardware import ClockEvent, GpuState, KernelUsage, Spread, Witness
from grader.schemas.report import CaseReport, CaseVerdict, Flag, Report, Verdict
from tests.cli.reports import WRONG_CASE, accepted, right_case, wrong


def _text(report: Report, colour: bool = False) -> str:
    console = Console(width=140, force_terminal=colour, no_color=not colour, highlight=False)
    with console.capture() as capture:
        put_report(report, "mine.py", console)
    return capture.get()


def test_a_wrong_case_comes_first_and_in_words() -> None:
    told = _text(wrong())
    for words in (
        "WRONG ANSWER",
        "out[3, 17] is 2, expected 1.5 (12 of 1,024 elements are wrong).",
        "largest error 0.5",
        "Is the tail handled?",
        "seed 42",
        "grader test mine.py -c vector_add --case 'n 1023' --seed 42",
        "1 of 2 cases passed: basic",
    ):
        assert words in told
    assert told.index("n 1023") < told.index("cases passed")


def test_passing_cases_are_summed_up() -> None:
    told = _text(accepted())
    assert "3 of 3 cases passed: basic 2, empty" in told
    assert "did not pass" not in told


def test_workloads_and_score() -> None:
    told = _text(accepted())
    for words in (
        "n=1,048,576",
        "1.23 ms ± 50.0 µs",
        "2.47 ms",
        "2.00x",
        "50%",
        "Score  1.23 ms",
        "speedup 2.00x",
    ):
        assert words in told


def on_gpu(**changes: object) -> Report:
    gpu = GpuState(
        samples=60,
        sm_mhz=Spread(low=1740, median=1755, high=1980),
        temperature_c=61,
        events=[ClockEvent.POWER_CAP],
        repeated=1,
    )
    values = {"host_us": 12.34, "fixed_us": 148.0, "roofline_us": 617.0, "gpu": gpu} | changes
    workload = accepted().workloads[0].model_copy(update=values)
    return accepted(workloads=[workload], device="h200", representative=True)


def test_what_a_time_is_made_of() -> None:
    told = _text(on_gpu())
    assert (
        "small: host 12.3 µs a call, no part of the time; 148 µs of fixed cost taken off a round; GPU SM"
        in told
    )
    assert (
        "1,755 MHz (1,740 to 1,980), up to 61 °C; held below its highest clocks by power cap; 1 round" in told
    )
    assert "fixed cost" not in _text(accepted())


def test_what_is_out_of_the_ordinary_with_a_time_is_said() -> None:
    told = _text(on_gpu(gated=False, ranked=False, roofline_us=38.25, charged_us=12.34))
    for words in ("small: Not gated", "small: Shown, not ranked", "38.2 µs", "small: 12.3 µs were added"):
        assert words in told
    for words in ("Not gated", "not ranked", "were added"):
        assert words not in _text(on_gpu())


def test_what_each_kernel_takes() -> None:
    kernels = [
        KernelUsage(name="scan<8>", registers=128, shared_bytes=4096, constant_bytes=380),
        KernelUsage(name="wide", registers=255, stack_bytes=3328, spill_stores=5904, spill_loads=7488),
    ]
    told = _text(wrong().model_copy(update={"kernels": kernels}))
    for words in ("scan<8>", "128", "4,096 B", "380 B", "3,328 B", "5,904 B stored, 7,488 B loaded"):
        assert words in told
    assert "as the runner said" not in told
    said = KernelUsage(name="twice", registers=32, stack_bytes=8, said_by=Witness.RUNNER)
    assert "Kernels (as the runner said)" in _text(accepted(kernels=[said]))


def test_operations_of_torchs_own_are_named() -> None:
    told = _text(accepted(flags=[Flag.LIBRARY_KERNEL], library_ops=["aten.mm", "aten._softmax"]))
    assert "Flags for staff: library_kernel" in told
    assert "Of torch's own kernels, as the runner said: aten.mm, aten._softmax" in told


def test_times_on_cpu_are_marked() -> None:
    assert "not representative" in _text(accepted())
    assert "not representative" not in _text(accepted(representative=True, device="h200"))
    assert "not representative" not in _text(wrong())


def test_what_a_submission_printed_cannot_drive_the_terminal_or_the_markup() -> None:
    told = _text(wrong())
    assert "\x1b" not in told
    assert "[31mred[bold]" in told


def test_only_the_first_failures_are_told_in_full() -> None:
    cases = [WRONG_CASE.model_copy(update={"name": f"case{number}"}) for number in range(8)]
    told = _text(wrong(cases))
    assert "... and 3 more" in told
    assert all(f"case{number}" in told for number in range(8))


def test_a_case_without_a_mismatch_says_what_happened() -> None:
    fault = CaseReport(
        name="empty",
        category="empty",
        verdict=CaseVerdict.RUNTIME_ERROR,
        detail="ValueError: grid of 0",
        seed=7,
    )
    lost = CaseReport(name="later", category="odd", verdict=CaseVerdict.NOT_RUN, detail="not run")
    told = _text(wrong([fault, lost, right_case("one")]))
    assert "ValueError: grid of 0" in told
    assert "not run" in told


def test_compile_error_shows_the_compiler() -> None:
    report = wrong().model_copy(
        update={"verdict": Verdict.COMPILE_ERROR, "cases": [], "compiler_log": "line 3: error: expected ';'"}
    )
    told = _text(report)
    assert "COMPILE ERROR" in told
    assert "line 3: error: expected ';'" in told


@pytest.mark.parametrize("verdict", list(Verdict))
def test_every_verdict_has_its_meaning(verdict: Verdict) -> None:
    told = _text(wrong().model_copy(update={"verdict": verdict}))
    assert verdict.meaning in told.replace("\n", " ")


@pytest.mark.parametrize(
    ("factor", "text"), [(None, "-"), (2.5, "2.50x"), (0.0043, "0.0043x"), (1234.0, "1,234x"), (99.6, "100x")]
)
def test_factors(factor: float | None, text: str) -> None:
    assert factor_text(factor) == text


@pytest.mark.parametrize(
    ("microseconds", "text"),
    [
        (0.5, "0.50 µs"),
        (12.34, "12.3 µs"),
        (999.4, "999 µs"),
        (999.6, "1.00 ms"),
        (123_456.0, "123 ms"),
        (999_900.0, "1.00 s"),
        (120e6, "120 s"),
    ],
)
def test_times_have_three_digits_and_a_unit(microseconds: float, text: str) -> None:
    assert time_text(microseconds) == text
