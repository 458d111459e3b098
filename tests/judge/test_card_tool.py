"""Reading the output of Nsight Compute and compute-sanitizer. The tools themselves run in tests/gpu."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from grader.judge import card_tool
from grader.judge.card_tool import of_counters, of_sanitizer, run_under
from grader.judge.channel import BoxSilent
from grader.schemas.card_tool import CardTool

LOADS = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
COUNTED = f"""a print of the kernel
==PROF== Connected to process 9
"ID","Process Name","Kernel Name","Stream","Block Size","Grid Size","gpu__time_duration.sum","{LOADS}"
"","","","","","","ns",""
"0","python3.12","add(const float *, float *)","7","(256, 1, 1)","(4, 1, 1)","2368","1,064"
"1","python3.12","add(const float *, float *)","7","(256, 1, 1)","(4, 1, 1)","n/a"
==PROF== Disconnected
"""
CHECKED = """========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at add(const float *, const float *, float *, long)+0x110 in solution.cu:3
=========     by thread (0,0,0) in block (257,0,0)
=========     Access to 0x7f is out of bounds
=========
========= Invalid __global__ write of size 4 bytes
=========     at add(const float *, const float *, float *, long)+0x110 in solution.cu:3
=========     by thread (1,0,0) in block (257,0,0)
=========
print of mine========= not a line of the tool
========= ERROR SUMMARY: 2 errors
"""


def test_counters_are_read_by_launch() -> None:
    found = of_counters(COUNTED)
    (kernel,) = found.kernels  # the second line lacks a cell
    assert (kernel.name, kernel.grid, kernel.block) == (
        "add(const float *, float *)",
        "(4, 1, 1)",
        "(256, 1, 1)",
    )
    assert [(counter.label, counter.text) for counter in kernel.counters] == [
        ("time, with the card's clocks as they are", "2.37 µs"),
        ("global loads of warps", "1,064"),
    ]


def test_equal_errors_are_one_finding_with_its_line() -> None:
    found = of_sanitizer(CardTool.MEMCHECK, CHECKED)
    (finding,) = found.findings
    assert (finding.text, finding.line, finding.times) == ("Invalid __global__ write of size 4 bytes", 3, 2)
    assert (found.errors, found.sentence) == (2, "It found 2 errors.")


def test_a_tool_that_fails_shows_its_last_words() -> None:
    assert "It said: no permission" in of_counters("no permission\n").problem
    assert "It said: killed" in of_sanitizer(CardTool.RACECHECK, "killed\n").problem


def test_a_call_that_does_not_end_is_not_waited_for_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """The GPU is held until then."""
    monkeypatch.setattr(card_tool, "command", lambda tool: [tool.program])
    monkeypatch.setattr(card_tool, "_call", Mock(side_effect=BoxSilent("no answer in time")))
    request, launcher = Mock(), Mock()
    request.challenge.manifest.gpus = 1
    client = launcher.submission.return_value
    found = run_under(CardTool.MEMCHECK, request, launcher, Mock())
    assert found.problem == "The call did not return under compute-sanitizer: no answer in time."
    client.finish.assert_not_called()
    client.close.assert_called_once()
