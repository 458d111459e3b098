"""Forked boxes: as good as fresh ones for trusted code, isolated, and gone with their server."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.challenge.catalogue import Catalogue
from grader.device_kinds import CPU, EMULATED
from grader.judge.at_home import judge_at_home
from grader.judge.device import make_device
from grader.judge.host_device import HostDevice
from grader.languages import Language
from grader.sandbox.box import BoxPurpose, BoxSpec, EndReason
from grader.sandbox.forked_box import ForkedBox, ForkedBoxes
from grader.sandbox.local_box import LocalBox
from grader.sandbox.processes import descendants, is_alive
from grader.schemas.report import CaseVerdict, Report, Verdict
from tests.components import need
from tests.sandbox.talk import within

SPEC = HostDevice().box_spec(BoxPurpose.RUN, Language.TRITON, 4 << 30)
RELAYED = make_device(EMULATED).box_spec(BoxPurpose.RUN, Language.TRITON, 4 << 30)
BASELINE = HostDevice().box_spec(BoxPurpose.BASELINE, Language.TRITON, 4 << 30)
CATALOGUE = Catalogue(Path(__file__).parent.parent / "catalogue")


@pytest.fixture
def forked(boxes: ForkedBoxes) -> Iterator[ForkedBox]:
    box = boxes.start(SPEC)
    assert isinstance(box, ForkedBox)
    yield box
    box.kill()


def _judge(source: str, boxes: ForkedBoxes) -> Report:
    return judge_at_home(CATALOGUE.load("twice"), source, Language.TRITON, boxes, device=CPU, timing=False)


def _of_the_children(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text() if Path(f"/proc/{pid}").exists() else ""


def test_a_forked_box_ends_with_its_connection(forked: ForkedBox) -> None:
    assert forked.end() is None
    assert forked.connection.recv(1 << 16)  # its hello
    forked.connection.close()
    end = forked.end(wait_s=20)
    assert end is not None
    assert (end.reason, end.exit_code) == (EndReason.EXITED, 0)


def test_a_box_can_be_killed_twice(forked: ForkedBox) -> None:
    assert forked.kill().reason is EndReason.KILLED
    assert forked.kill().reason is EndReason.KILLED
    assert not _of_the_children(forked._pid)


def test_the_signal_that_ends_a_box_is_reported(forked: ForkedBox) -> None:
    os.kill(forked._pid, signal.SIGSEGV)
    end = forked.end(wait_s=20)
    assert end is not None
    assert (end.reason, end.signal) == (EndReason.SIGNALLED, signal.SIGSEGV)


def test_each_forked_box_starts_clean(boxes: ForkedBoxes) -> None:
    """The next submission finds no changes to process, folder or modules."""
    source = (
        "import os, sys, torch\n"
        "assert not hasattr(torch, 'marked') and 'marked' not in os.environ and not os.path.exists('marked')\n"
        "torch.marked, os.environ['marked'] = True, 'yes'\n"
        "open('marked', 'w').close()\n"
        "def solve(x, out, n):\n    out.copy_(x + x)\n"
    )
    for _ in range(2):
        assert _judge(source, boxes).verdict is Verdict.ACCEPTED


def test_output_of_a_forked_box_reaches_the_report(boxes: ForkedBoxes) -> None:
    source = (
        "import os\ndef solve(x, out, n):\n    print('from Python')\n    os.system('echo from a child')\n"
    )
    outputs = {case.output for case in _judge(source, boxes).cases}
    assert outputs == {"from a child\nfrom Python\n"} or outputs == {"from Python\nfrom a child\n"}


def test_a_crash_ends_one_box_only(boxes: ForkedBoxes) -> None:
    source = "import ctypes\ndef solve(x, out, n):\n    ctypes.string_at(0)\n"
    report = _judge(source, boxes)
    assert report.cases[0].verdict is CaseVerdict.RUNTIME_ERROR
    assert "signal 11" in report.cases[0].detail


def test_a_dead_fork_server_is_replaced() -> None:
    boxes = ForkedBoxes()
    try:
        first = boxes.start(SPEC)
        os.kill(boxes._servers[0]._box._process.pid, signal.SIGKILL)
        assert first.end(wait_s=20) is not None  # ends with its server
        first.kill()
        deadline = time.monotonic() + 20
        while boxes._servers[0].alive() and time.monotonic() < deadline:
            time.sleep(0.01)
        again = boxes.start(SPEC)
        assert again.end() is None
        again.kill()
    finally:
        boxes.close()


def test_a_box_without_imports_is_not_forked(boxes: ForkedBoxes) -> None:
    box = boxes.start(BoxSpec(BoxPurpose.CONTROL, env={"GRADER_PRELOAD": ""}))
    assert isinstance(box, LocalBox)
    box.kill()


@pytest.mark.needs("emulator")
def test_the_emulated_gpu_and_its_runner_are_forked(boxes: ForkedBoxes) -> None:
    box = boxes.start(RELAYED)
    assert isinstance(box, ForkedBox)
    assert box.connection.recv(1 << 16)  # the runner's hello, through the relay
    relay, runner = descendants(box._pid)
    assert "fork_server.py" in _of_the_children(relay)
    assert "fork_server.py" in _of_the_children(runner)
    assert box.kill().reason is EndReason.KILLED
    assert within(20, lambda: not is_alive(runner))


@pytest.mark.needs("emulator")
def test_the_end_of_a_forked_gpus_runner_is_the_boxs(boxes: ForkedBoxes) -> None:
    box = boxes.start(RELAYED)
    assert box.connection.recv(1 << 16)
    os.kill(descendants(box._pid)[1], signal.SIGSEGV)  # type: ignore[attr-defined]
    end = box.end(wait_s=20)
    box.kill()
    assert end is not None
    assert (end.reason, end.signal) == (EndReason.SIGNALLED, signal.SIGSEGV)


@pytest.mark.parametrize("spec", [SPEC, RELAYED, BASELINE], ids=["interpreter", "emulated", "baseline"])
def test_a_fork_finds_torch_imported(boxes: ForkedBoxes, spec: BoxSpec) -> None:
    if spec is RELAYED:
        need("emulator")
    box = boxes.start(spec)
    box.kill()
    server = next(server for server in boxes._servers if server.spec == spec)
    assert "libtorch" in Path(f"/proc/{server._box._process.pid}/maps").read_text()
