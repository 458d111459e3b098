"""The end of a runner is reported exactly, in every kind of box, and nothing inside can imitate a kill from
outside.
"""

from __future__ import annotations

import json
import os
import signal
import time
from typing import Any

import pytest

from grader import limits
from grader.sandbox.box import Box, BoxEnd, BoxMaker, BoxPurpose, BoxSpec, EndReason
from grader.sandbox.bubblewrap_box import BubblewrapBox
from grader.sandbox.docker_engine import engine
from tests.sandbox.talk import within
from tests.sandbox.test_box import processes_with

HELLO_SECONDS = 60


def _runner(maker: BoxMaker, **changes: Any) -> Box:
    """A box whose runner waits for a submission."""
    box = maker.start(BoxSpec(BoxPurpose.RUN, **changes))
    box.connection.settimeout(HELLO_SECONDS)
    assert box.connection.recv(4)
    return box


def _ended(box: Box, source: str) -> BoxEnd:
    """The end of a box that loads ``source``."""
    message = {"op": "load", "loader": "triton_loader", "source": source, "parameters": [], "declaration": ""}
    body = json.dumps(message).encode()
    box.connection.sendall(len(body).to_bytes(4, "little") + body)
    try:
        assert within(30, lambda: box.end() is not None), box.output()
        return box.kill()
    finally:
        box.kill()


@pytest.mark.parametrize(
    ("action", "end"),
    [
        ("os._exit(137)", BoxEnd(EndReason.EXITED, exit_code=137)),
        ("os._exit(143)", BoxEnd(EndReason.EXITED, exit_code=143)),
        ("os.kill(os.getpid(), 9)", BoxEnd(EndReason.SIGNALLED, signal=9)),
        ("os.killpg(0, 15)", BoxEnd(EndReason.SIGNALLED, signal=15)),
        # The kernel ends it then, but no memory counter shows it.
        (
            "import resource; resource.setrlimit(resource.RLIMIT_CPU, (1, 1))\nwhile True: pass",
            BoxEnd(EndReason.SIGNALLED, signal=9),
        ),
    ],
)
def test_the_end_of_a_runner_is_reported(boxes: BoxMaker, action: str, end: BoxEnd) -> None:
    assert _ended(_runner(boxes), f"import os\n{action}\n") == end


def test_nothing_inside_can_end_or_enter_the_supervisor(walled_boxes: BoxMaker) -> None:
    source = """
import os, resource, signal, time
assert os.getppid() == 1
def refused(action):
    try:
        action()
    except OSError:
        return
    os._exit(4)
refused(lambda: open("/proc/1/mem", "r+b"))
refused(lambda: os.listdir("/proc/1/fd"))
refused(lambda: resource.prlimit(1, resource.RLIMIT_CPU, (1, 1)))
for number in set(range(1, 65)) - {32, 33}:
    os.kill(1, number)
# Its children's children end there, too.
for _ in range(20):
    if os.fork() == 0:
        os.fork() or time.sleep(0.01)
        os._exit(137)
os._exit(3)
"""
    assert _ended(_runner(walled_boxes), source) == BoxEnd(EndReason.EXITED, exit_code=3)


def test_out_of_memory_is_counted_by_the_boxs_group(
    walled_boxes: BoxMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The host's count covers all boxes, so it must not be needed.
    monkeypatch.setattr("grader.sandbox.docker_box.host_memory_kills", lambda: 0)
    source = "held = [bytearray(b'x') * (64 << 20) for _ in range(64)]\n"
    end = _ended(_runner(walled_boxes, memory_bytes=256 * limits.MIB), source)
    assert end == BoxEnd(EndReason.OUT_OF_MEMORY)


def _kill_from_outside(box: Box) -> None:
    if box.id.startswith("grader-"):
        engine().client.kill(box.id)
    elif isinstance(box, BubblewrapBox):
        os.kill(box._first_pid, signal.SIGKILL)
    else:
        os.kill(box._process.pid, signal.SIGKILL)  # type: ignore[attr-defined]


def test_a_kill_from_outside_is_reported(boxes: BoxMaker) -> None:
    box = _runner(boxes)
    _kill_from_outside(box)
    assert within(30, lambda: box.end() is not None)
    end = box.kill()
    assert (end.outside, end.sentence()) == (True, "the box was killed from outside")


def test_a_runners_processes_end_with_it(local_boxes: BoxMaker) -> None:
    """A plain process has no namespace that would end it."""
    marker = f"grader-test-{os.getpid()}-{time.monotonic_ns()}"
    source = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
os.wait()
os._exit(5)
"""
    box = _runner(local_boxes, env={"MARKER": marker})
    assert processes_with(marker)
    assert _ended(box, source) == BoxEnd(EndReason.EXITED, exit_code=5)
    assert within(5, lambda: not processes_with(marker))
