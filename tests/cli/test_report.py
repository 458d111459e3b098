"""Reports on a terminal."""

from __future__ import annotations

import codecs
import io

import pytest
from rich.console import Console

from grader.cli import output
from grader.cli.report import factor_text, put_report, replay_command
from grader.device_kinds import caution_of
from grader.schemas.error_map import By, ErrorMap, ErrorWindow, Writer
from grader.schemas.hardware import ClockEvent, GpuState, KernelUsage, Spread, Witness
from grader.schemas.report import (
    CaseReport,
    CaseVerdict,
    Flag,
    HiddenCases,
    Report,
    Score,
    Verdict,
    WorkloadReport,
    WorstElement,
)
from tests.cli.reports import WRONG_CASE, accepted, right_case, wrong


def _text(report: Report, width: int = 140, terminal: bool = False) -> str:
    console = Console(width=width, force_terminal=terminal, color_system=None, highlight=False)
    with console.capture() as capture:
        put_report(report, "mine.py", console)
    return capture.get()


def test_a_wrong_case_is_explained_first() -> None:
    told = _text(wrong())
    for words in (
        "WRONG ANSWER",
        "out[3, 17] is 2, expected 1.5 (12 of 1,024 elements are wrong).",
        "largest error 0.5",
        "Is the tail handled?",
        "seed 42",
        "grader test mine.py -c vector_add --device emulated --case 'n 1023' --seed 42",
        "Look first at 'n 1023' with n = 1,023: it gives a wrong answer.",
        "1 of 2 cases passed, 1 failed",
    ):
        assert words in told
    assert told.index("Look first at") < told.index("cases passed") < told.index("seed 42")


def test_cases_are_in_a_grid_by_category() -> None:
    lost = CaseReport(name="later", category="odd", verdict=CaseVerdict.NOT_RUN, detail="not run")
    lines = _text(wrong([right_case("one"), right_case("two"), WRONG_CASE, lost])).splitlines()
    assert "Cases  2 of 4 cases passed, 1 failed, 1 not run" in lines
    assert "  basic  ✓✓" in lines
    assert "  odd    ✗·" in lines
    assert "✗" not in _text(accepted())


def test_a_grid_breaks_into_lines_of_the_screens_width() -> None:
    cases = [right_case(f"case{number}") for number in range(100)]
    lines = [line for line in _text(accepted(cases=cases), width=60).splitlines() if "✓" in line]
    assert sum(line.count("✓") for line in lines) == 100
    assert max(map(len, lines)) <= 60
    assert len(lines) == 2


def test_the_worst_elements_of_a_failing_case() -> None:
    worst = [
        WorstElement(index=[3, 17], got="2", expected="1.5", error=0.5, allowed=1.5e-5),
        WorstElement(index=[0, 0], got="[red]nan", expected="1"),
    ]
    assert WRONG_CASE.mismatch is not None
    mismatch = WRONG_CASE.mismatch.model_copy(update={"worst": worst})
    told = _text(wrong([WRONG_CASE.model_copy(update={"mismatch": mismatch})]))
    rows = [line.split() for line in told.splitlines()]
    assert ["out", "got", "expected", "error", "allowed"] in rows
    assert ["[3,", "17]", "2", "1.5", "0.5", "1.5e-05"] in rows
    assert ["[0,", "0]", "[red]nan", "1", "-", "-"] in rows


def test_the_error_map_has_a_letter_for_each_element() -> None:
    codes = bytes(2 if place % 8 == 3 else 14 if place > 28 else 0 for place in range(32))
    found = ErrorMap(
        shape=[2, 16],
        width=16,
        tile=(1, 1),
        rows=2,
        columns=16,
        lowest=-1,
        cells=ErrorMap.packed(codes),
        window=ErrorWindow(first=[], values={}),
        writer=Writer(by=By.THREAD, kernel="turn", block=(0, 2, 0), thread=(3, 1, 0), lines=[14, 18]),
    )
    assert WRONG_CASE.mismatch is not None
    mismatch = WRONG_CASE.mismatch.model_copy(update={"map": found, "index": [1, 3]})
    lines = _text(wrong([WRONG_CASE.model_copy(update={"mismatch": mismatch})])).splitlines()
    assert "  out, an element each, lines of 16: · right, 1 off by less than 10, u never written" in lines
    assert "  ···1·······1····" in lines
    assert "  ···1·······1·uuu" in lines
    first = f"First wrong: out[1, 3] (expected {mismatch.expected}, got {mismatch.got}). Thread (3, 1) of block (0, 2)"
    assert f"{first} of turn wrote it last, at line 14 or 18." in " ".join(" ".join(lines).split())


def test_workloads_and_score_are_shown() -> None:
    told = _text(accepted())
    for words in (
        "n=1,048,576",
        "small  n=1,048,576  speedup 2.00x  SOL 50%",
        "1.23 ms ± 50.0 µs",
        "2.47 ms",
        "Score  1.23 ms",
        "speedup 2.00x",
    ):
        assert words in told


def test_bars_have_one_scale_and_end_in_their_interval() -> None:
    own, eager = (line for line in _text(accepted()).splitlines() if "█" in line)
    assert own.lstrip().startswith("this")
    assert eager.count("█") == 72, "the longest fills the screen"
    assert own.count("█") == 35, "1,200 of 2,468"
    assert "├┼┤" in own
    narrow = next(line for line in _text(accepted(), width=60).splitlines() if "█" in line)
    assert "█┼ " in narrow, "an interval within a cell is one mark"


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_nothing_is_broken_or_cut_between_60_and_200_columns(width: int) -> None:
    report = on_gpu(gated=False, baselines_us={"eager": 2468.0, "compile": 1500.0, "staff solution": 99.0})
    told = _text(report, width=width, terminal=True)
    assert max(map(len, told.splitlines())) <= width
    for words in ("1.23 ms ± 50.0 µs", "2.47 ms", "99.0 µs", "Score"):
        assert words in told
    remark = told[told.index("  Not gated") : told.index("\n\nScore")]
    assert all(line.startswith("  ") for line in remark.splitlines()), "broken lines stay indented"
    assert told.count("█") == _text(report, width=width).count("█")
    narrow = _text(wrong(), width=width, terminal=True)
    assert (
        "replay: grader test mine.py -c vector_add --device emulated --case 'n 1023' --seed 42" in narrow
    ), "copied whole"


def test_a_gpu_only_case_is_replayed_on_its_device() -> None:
    report = wrong()
    case = next(case for case in report.cases if case.verdict.failed).model_copy(update={"on": "gpu"})
    command = replay_command(report.model_copy(update={"device": "h200"}), case, "mine.py")
    assert "--device h200 --case" in command


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


def test_the_parts_of_a_time_are_shown() -> None:
    told = _text(on_gpu())
    assert (
        "  host 12.3 µs a call, not part of the time; 148 µs of fixed cost subtracted from a round; GPU SM"
        in told
    )
    assert "1,755 MHz (1,740 to 1,980), up to 61 °C; clocks were limited by power cap; 1 round" in told
    assert "fixed cost" not in _text(accepted())


def test_remarks_on_a_time_are_shown() -> None:
    told = _text(on_gpu(gated=False, ranked=False, roofline_us=38.25, charged_us=12.34))
    for words in ("  Not gated", "  Shown, not ranked", "38.2 µs", "  12.3 µs were added", "(not ranked)"):
        assert words in told
    for words in ("Not gated", "not ranked", "were added"):
        assert words not in _text(on_gpu())


def test_each_kernels_resources_are_shown() -> None:
    kernels = [
        KernelUsage(name="scan<8>", registers=128, shared_bytes=4096, constant_bytes=380),
        KernelUsage(name="wide", registers=255, stack_bytes=3328, spill_stores=5904, spill_loads=7488),
    ]
    told = _text(wrong().model_copy(update={"kernels": kernels}))
    for words in ("scan<8>", "128", "4,096 B", "380 B", "3,328 B", "5,904 B stored, 7,488 B loaded"):
        assert words in told
    assert "as the runner said" not in told
    said = KernelUsage(name="twice", registers=32, stack_bytes=8, said_by=Witness.RUNNER)
    assert "Kernels (as reported by the runner)" in _text(accepted(kernels=[said]))


def test_torchs_library_operations_are_listed() -> None:
    told = _text(accepted(flags=[Flag.LIBRARY_KERNEL], library_ops=["aten.mm", "aten._softmax"]))
    assert "Flags for staff: library_kernel" in told
    assert "Torch's own kernels, as reported by the runner: aten.mm, aten._softmax" in told


def test_remarks_on_judging_are_shown() -> None:
    remark = "The box was killed from outside once and the submission was judged again."
    assert remark in _text(accepted(remarks=[remark]))
    assert remark in _text(wrong().model_copy(update={"remarks": [remark]}).redacted())


def test_times_on_cpu_are_marked() -> None:
    caution = caution_of("cpu")
    assert _text(accepted()).count(caution) == 1
    assert caution not in _text(accepted(representative=True, device="h200"))
    assert caution not in _text(wrong())


def test_printed_output_cannot_control_terminal_or_markup() -> None:
    told = _text(wrong())
    assert "\x1b" not in told
    assert "[31mred[bold]" in told


def test_only_the_first_failures_are_reported_in_full() -> None:
    cases = [
        WRONG_CASE.model_copy(update={"name": f"case{number}", "hint": "a" * number}) for number in range(8)
    ]
    told = _text(wrong(cases))
    assert "... and 3 more" in told
    assert all(f"case{number}" in told for number in range(8))


def test_a_case_without_a_mismatch_shows_its_detail() -> None:
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


def test_a_compile_error_shows_the_compilers_log() -> None:
    log = "warning: unused\nline 3: error: expected ';'\nline 9: error: and so on"
    report = wrong().model_copy(update={"verdict": Verdict.COMPILE_ERROR, "cases": [], "compiler_log": log})
    told = _text(report)
    assert "COMPILE ERROR" in told
    assert log in told


def test_a_load_error_is_reported_once() -> None:
    failed = {"verdict": Verdict.COMPILE_ERROR, "cases": [], "detail": "ValueError in line 2: at the top"}
    trace = "  line 2 in <module>: raise ValueError('at the top')"
    told = _text(wrong().model_copy(update={**failed, "compiler_log": trace}))
    assert told.count("ValueError in line 2: at the top") == 1
    assert trace in told
    long = {**failed, "detail": f"ValueError: {'x' * 300} end"}
    assert "x end" in _text(wrong().model_copy(update=long)), "what the advice cuts is told whole"


def test_how_many_hidden_cases_passed_is_reported() -> None:
    report = wrong([WRONG_CASE]).model_copy(update={"hidden": HiddenCases(passed=3, total=6)})
    assert "Hidden cases  3 of 6 hidden cases passed." in _text(report)


def test_a_time_too_short_to_measure_is_marked() -> None:
    timed = WorkloadReport(
        name="tiny", sizes={"n": 8}, ranked=True, time_us=None, ci_us=(0.1, 20064.6), rounds=9
    )
    why = "Workload 'tiny' is too short to measure here."
    passed = WRONG_CASE.model_copy(update={"verdict": CaseVerdict.ACCEPTED, "detail": "", "mismatch": None})
    report = wrong([passed]).model_copy(
        update={"verdict": Verdict.ACCEPTED, "workloads": [timed], "score": Score(unranked=why)}
    )
    told = _text(report)
    assert "this  too short to measure here" in told
    assert f"Not ranked: {why}" in told
    assert "speedup" not in told


def test_hidden_cases_are_counted_and_come_last() -> None:
    hidden = CaseReport(
        name="hidden 1",
        category="nan_inf",
        verdict=CaseVerdict.WRONG_ANSWER,
        detail="It failed.",
        hidden=True,
    )
    told = _text(wrong([hidden, WRONG_CASE]))
    assert "Look first at 'n 1023'" in told
    assert "(1 of them hidden)" in told


def test_an_ascii_screen_gets_ascii_symbols() -> None:
    codecs.register_error(output.ERRORS, output.plainly)
    raw = io.BytesIO()
    screen = io.TextIOWrapper(raw, encoding="ascii", errors=output.ERRORS)
    put_report(accepted(cases=[right_case("ö")]), "mine.py", Console(file=screen, width=100, highlight=False))
    put_report(wrong(), "mine.py", Console(file=screen, width=100, highlight=False))
    screen.flush()
    told = raw.getvalue().decode("ascii")
    for words in ("  basic  +", "  odd    x", "1.23 ms +- 50.0 us", "####"):
        assert words in told


@pytest.mark.parametrize("verdict", list(Verdict))
def test_every_verdict_has_its_meaning(verdict: Verdict) -> None:
    told = _text(wrong().model_copy(update={"verdict": verdict}))
    assert verdict.meaning in told.replace("\n", " ")


@pytest.mark.parametrize(
    ("factor", "text"),
    [(None, "-"), (2.5, "2.50x"), (0.0043, "0.0043x"), (1234.0, "1,234x"), (99.6, "99.6x"), (9.996, "10.0x")],
)
def test_factors_are_formatted(factor: float | None, text: str) -> None:
    assert factor_text(factor) == text
