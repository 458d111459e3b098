"""A box that something outside ends decides nothing; a submission that ends its own does."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from grader.challenge.catalogue import find_catalogue
from grader.errors import BoxUnavailable, JudgeFailure
from grader.judge.channel import BoxGone, BoxSilent
from grader.judge.device import make_device
from grader.judge.faults import BoxKilled, of_broken_channel
from grader.judge.job import JudgingProgress
from grader.judge.launch import Launcher
from grader.judge.request import CPU, Request
from grader.judge.session import Session
from grader.languages import Language
from grader.sandbox.box import Box, BoxEnd, BoxPurpose, BoxSpec, EndReason
from grader.sandbox.local_box import LocalBox, LocalBoxes
from grader.schemas.report import CaseVerdict, Report, Verdict
from grader.schemas.submission import State
from tests.faults.harness import ROOT

RIGHT = "def solve(x, out, n):\n    out.copy_(2 * x)\n"


class Boxes(LocalBoxes):
    def __init__(self) -> None:
        self.started: list[Box] = []

    def start(self, spec: BoxSpec) -> Box:  # type: ignore[override]
        box = super().start(spec)
        if spec.purpose is BoxPurpose.RUN:
            self.started.append(box)
        return box

    def kill_last(self, number: signal.Signals) -> None:
        """Returns when it is dead: on a busy host the few remaining cases could be judged before."""
        box = self.started[-1]
        os.kill(box._process.pid, number)  # type: ignore[attr-defined]
        assert box.end(wait_s=30.0) is not None


def _judge(
    source: str,
    boxes: Boxes,
    on_progress: Callable[[JudgingProgress], None] = lambda _: None,
    cases: int | None = None,
) -> Report:
    challenge = find_catalogue(ROOT / "tests" / "catalogue").load("twice")
    request = Request(
        challenge=challenge,
        language=Language.TRITON,
        source=source,
        device=CPU,
        seed_key=bytes(32),
        cases=challenge.cases[:cases],
        timing=False,
    )
    return Session(request, make_device(CPU, 0), boxes, on_progress, lambda: None).run().report


class Killer:
    def __init__(self, boxes: Boxes, number: signal.Signals, times: int) -> None:
        self._boxes, self._number, self.left = boxes, number, times

    def __call__(self, progress: JudgingProgress) -> None:
        if progress.state is State.TESTING and progress.progress.done == 1 and self.left:
            self.left -= 1
            self._boxes.kill_last(self._number)


@pytest.mark.parametrize(
    ("number", "times", "said"), [(signal.SIGKILL, 1, "once"), (signal.SIGTERM, 2, "twice")]
)
def test_a_box_that_is_killed_from_outside_is_judged_again(
    number: signal.Signals, times: int, said: str
) -> None:
    """Protects students against a verdict for an operator's or the kernel's interference."""
    boxes = Boxes()
    report = _judge(RIGHT, boxes, Killer(boxes, number, times))
    assert report.verdict is Verdict.ACCEPTED
    assert report.remarks == [f"The box was killed from outside {said} and the submission was judged again."]
    assert len(boxes.started) == times + 1


def test_a_box_that_is_killed_from_outside_at_the_limit_of_its_call_is_judged_again() -> None:
    """The judge asks how it ended at the time limit, not at the end of the connection."""
    end = BoxEnd(EndReason.SIGNALLED, signal=signal.SIGKILL, outside=True)
    client: Any = SimpleNamespace(box=SimpleNamespace(end=lambda: end), memory_bytes=0, interprets=False)
    with pytest.raises(BoxKilled):
        of_broken_channel(client, BoxSilent("no answer in time"), "solve ran", 10.0)


def _away() -> BoxEnd:
    raise BoxUnavailable("Docker could not kill the box: connection refused")


KILLED_LATE = BoxEnd(EndReason.SIGNALLED, signal=signal.SIGKILL, outside=True)


@pytest.mark.parametrize(
    ("kill", "raised"), [(_away, BoxUnavailable), (lambda: KILLED_LATE, BoxKilled)], ids=["away", "back"]
)
def test_an_unknown_end_of_a_box_is_our_failure(kill: Callable[[], BoxEnd], raised: type[Exception]) -> None:
    """An engine that restarts ends its boxes, and may take longer to come back than the judge waits."""
    client: Any = SimpleNamespace(end=lambda: None, box=SimpleNamespace(kill=kill), memory_bytes=0)
    with pytest.raises(raised):
        of_broken_channel(client, BoxGone("the connection ended"), "solve ran", 10.0)


def test_closing_the_connection_while_alive_is_the_submissions_fault() -> None:
    box = SimpleNamespace(kill=lambda: BoxEnd(EndReason.KILLED))
    client: Any = SimpleNamespace(end=lambda: None, box=box, memory_bytes=0)
    found = of_broken_channel(client, BoxGone("the connection ended"), "solve ran", 10.0)
    assert found.detail == "It broke the connection to the judge while solve ran: the connection ended."


def test_repeated_kills_from_outside_are_our_failure() -> None:
    """Protects the queue against a submission that is judged again for ever."""
    boxes = Boxes()
    with pytest.raises(JudgeFailure, match="killed from outside 3 times"):
        _judge(RIGHT, boxes, Killer(boxes, signal.SIGKILL, 3))


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("os._exit(137)", "ended itself with exit code 137"),
        ("os._exit(143)", "ended itself with exit code 143"),
        ("os.kill(os.getpid(), 9)", "was ended by signal 9"),
        ("os.killpg(0, 15)", "was ended by signal 15"),
    ],
)
def test_a_submission_that_kills_itself_is_reported(action: str, said: str) -> None:
    boxes = Boxes()
    report = _judge(f"import os\n\n\ndef solve(x, out, n):\n    {action}\n", boxes, cases=2)
    assert report.verdict is Verdict.RUNTIME_ERROR
    assert said in report.cases[0].detail
    assert report.remarks == []
    # As after any crash: a fresh box for the next case. Nothing is judged again.
    assert len(boxes.started) == 2


def test_a_kill_while_loading_is_the_submissions_fault() -> None:
    boxes = Boxes()
    report = _judge("import os\n\nos.kill(os.getpid(), 9)\n", boxes)
    assert report.verdict is Verdict.RUNTIME_ERROR
    assert report.detail == "While the source was loaded, the process was ended by signal 9."
    assert "outside an array" not in report.hint
    assert len(boxes.started) == 1


def test_an_odd_exception_is_reported_and_keeps_the_box() -> None:
    boxes = Boxes()
    report = _judge((ROOT / "tests/hostile/attacks/verdict/odd_exceptions.py").read_text(), boxes)
    assert {case.verdict for case in report.cases} == {CaseVerdict.RUNTIME_ERROR}
    assert report.cases[0].detail.startswith(r"Odd while solve ran: \ud800\x00")
    assert len(boxes.started) == 1


def test_a_skipped_case_gives_the_reason() -> None:
    """Protects students against cases that are left out without a reason."""
    report = _judge("import os\n\n\ndef solve(x, out, n):\n    os._exit(1)\n", Boxes())
    last = report.cases[-1]
    assert last.verdict is CaseVerdict.NOT_RUN
    assert all(f"'{case.name}'" in last.detail for case in report.cases[:4])
    assert "ended the process" in last.detail


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("raise MemoryError\n\n\ndef solve(x, out, n):\n    pass\n", "the source was loaded (line 1)"),
        ("def solve(x, out, n):\n    raise MemoryError\n", "solve ran (line 2)"),
    ],
)
def test_running_out_of_memory_names_the_limit(source: str, place: str) -> None:
    report = _judge(source, Boxes())
    assert report.verdict is Verdict.MEMORY_LIMIT
    detail = report.detail or report.cases[0].detail
    assert detail == f"It ran out of memory while {place}; a submission may use 512 MiB.\nMemoryError"


def test_a_crash_is_not_retried() -> None:
    """Protects workers against submissions that crash on purpose, to be judged again."""
    boxes = Boxes()
    source = "import os\n\n\ndef solve(x, out, n):\n    os.kill(os.getpid(), 11)\n"
    assert _judge(source, boxes).verdict is Verdict.RUNTIME_ERROR
    assert len(boxes.started) == 4  # the first, and three fresh ones


def test_a_load_error_on_a_full_disk_is_our_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    unloadable = "def solve(:\n"
    assert _judge(unloadable, Boxes()).verdict is Verdict.COMPILE_ERROR
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
    with pytest.raises(JudgeFailure, match="is full"):
        _judge(unloadable, Boxes())


class Slow(LocalBoxes):
    """Takes minutes to start a box, by the box's clock."""

    def start(self, spec: BoxSpec) -> LocalBox:
        box = super().start(spec)
        box._deadline -= spec.wall_seconds - 60.0
        return box


def test_starting_a_box_does_not_count_as_submission_time() -> None:
    challenge = find_catalogue(ROOT / "tests" / "catalogue").load("twice")
    request = Request(challenge, Language.TRITON, RIGHT, CPU, bytes(32), [])
    launcher = Launcher(request, make_device(CPU, 0), Slow(), lambda: None)
    try:
        box: Any = launcher.submission().box
        assert box._deadline - time.monotonic() > box._spec.wall_seconds - 60.0
    finally:
        launcher.close()


def test_a_box_without_a_gate_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects a device without free memory against unknown boxes."""
    challenge = find_catalogue(ROOT / "tests" / "catalogue").load("twice")
    request = Request(challenge, Language.TRITON, RIGHT, CPU, bytes(32), [])
    device, boxes = make_device(CPU, 0), Boxes()
    monkeypatch.setattr(device, "make_gate", lambda: os.open("/nowhere", os.O_RDONLY))
    launcher = Launcher(request, device, boxes, lambda: None)
    with pytest.raises(FileNotFoundError):
        launcher.submission()
    launcher.close()
    (box,) = boxes.started
    ended = box.end()
    box.kill()
    assert ended is not None
