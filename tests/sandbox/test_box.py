"""The interface of boxes, for each kind."""

from __future__ import annotations

import fcntl
import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from grader import limits
from grader.errors import BoxUnavailable
from grader.sandbox.box import Box, BoxMaker, BoxPurpose, BoxSpec, EndReason, Pausable, readable
from tests.sandbox.talk import Silent, ask, run, within

Start = Callable[..., Box]
# It takes milliseconds; the wait for a box that hangs is longer.
KILLED_SECONDS = 15.0


def test_a_high_descriptor_can_be_waited_for() -> None:
    ours, theirs = os.pipe()
    high = fcntl.fcntl(ours, fcntl.F_DUPFD_CLOEXEC, 1024)
    try:
        assert not readable(0.0, high)
        os.write(theirs, b"!")
        assert readable(10.0, high)
    finally:
        for end in (ours, theirs, high):
            os.close(end)


def test_a_descriptor_can_be_passed_and_memory_shared(boxes: BoxMaker, start: Start) -> None:
    box = start(boxes)
    memory = os.memfd_create("test")
    try:
        os.write(memory, bytes([1, 2, 3]))
        assert ask(box, "double", descriptor=memory) == {"doubled": 3}
        assert os.pread(memory, 3, 0) == bytes([2, 4, 6])
    finally:
        os.close(memory)


def test_the_environment_is_clean(boxes: BoxMaker, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADER_SECRET", "hunter2")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    seen = ask(start(boxes, env={"TRITON_INTERPRET": "1"}), "see")["env"]
    assert "hunter2" not in seen.values()
    assert not [name for name in seen if name.startswith("GRADER_")]
    assert seen["TRITON_INTERPRET"] == "1"
    assert seen["HOME"] == seen["TMPDIR"] != str(Path.home())


def test_no_descriptor_is_inherited(boxes: BoxMaker, start: Start) -> None:
    with Path("/proc/self/status").open() as mine:
        os.set_inheritable(mine.fileno(), True)
        # stdin, stdout, stderr, the connection, and the folder being listed
        assert len(ask(start(boxes), "see")["descriptors"]) == 5


def test_the_exit_code_is_reported(boxes: BoxMaker, start: Start) -> None:
    box = start(boxes)
    with pytest.raises(Silent):
        ask(box, "end", code=3)
    end = box.end(wait_s=10)
    assert end is not None
    assert (end.reason, end.exit_code) == (EndReason.EXITED, 3)
    assert box.kill() == end, "the first reason stays"


def test_an_exit_is_not_reported_as_a_kill(boxes: BoxMaker, start: Start) -> None:
    box = start(boxes)
    with pytest.raises(Silent):
        ask(box, "end", code=0)
    assert within(10, lambda: box.end() is not None)
    assert box.kill().reason is EndReason.EXITED


def test_the_ending_signal_is_reported(boxes: BoxMaker, start: Start) -> None:
    box = start(boxes)
    with pytest.raises(Silent):
        ask(box, "crash")
    end = box.end(wait_s=10)
    assert end is not None
    assert (end.reason, end.signal) == (EndReason.SIGNALLED, 11)
    assert "signal 11" in end.sentence()


def test_a_memory_bomb_ends_as_out_of_memory(boxes: BoxMaker, start: Start) -> None:
    box = start(boxes, memory_bytes=256 * limits.MIB)
    with pytest.raises(Silent):
        ask(box, "use_memory", bytes=4 * limits.GIB)
    end = box.end(wait_s=10)
    assert end is not None
    assert end.reason is EndReason.OUT_OF_MEMORY


@pytest.mark.parametrize("descriptor", [1, 2])
def test_an_output_flood_ends_quickly_and_is_cut(boxes: BoxMaker, start: Start, descriptor: int) -> None:
    box = start(boxes, output_bytes=10_000)
    began = time.monotonic()
    with pytest.raises(Silent):
        ask(box, "write_output", bytes=1 * limits.GIB, descriptor=descriptor)
    end = box.end(wait_s=10)
    assert end is not None
    assert end.reason is EndReason.OUTPUT_FLOOD
    assert time.monotonic() - began < 5
    assert box.output() == b"x" * 10_000


def test_output_is_read_piece_by_piece(boxes: BoxMaker, start: Start) -> None:
    box = start(boxes)
    for count in (5, 7):
        ask(box, "write_output", bytes=count)
        taken: list[bytes] = []
        assert within(5, lambda n=count, t=taken: t.append(box.output()) or len(b"".join(t)) == n)
    assert box.output() == b""


def test_output_before_the_end_is_not_lost(boxes: BoxMaker, start: Start) -> None:
    box = start(boxes)
    ask(box, "write_output", bytes=1000)
    with pytest.raises(Silent):
        ask(box, "end", code=1)
    assert box.end(wait_s=10) is not None
    assert box.output() == b"x" * 1000


def test_the_wall_clock_limit_ends_a_box(boxes: BoxMaker, start: Start) -> None:
    box = start(boxes, wall_seconds=1.5)
    with pytest.raises(Silent):
        ask(box, "spin")
    end = box.end(wait_s=10)
    assert end is not None
    assert end.reason is EndReason.WALL_CLOCK


def test_processor_time_includes_children(boxes: BoxMaker, start: Start) -> None:
    box = start(boxes)
    before, began = box.cpu_seconds(), time.monotonic()
    run(box, "import time\nwhile time.process_time() < 0.3: pass")
    used = box.cpu_seconds() - before
    tick = 0.02
    assert 0.3 - tick <= used <= (time.monotonic() - began) * (os.cpu_count() or 1) + tick
    known = box.cpu_seconds()
    assert not box.out_of_memory()
    box.kill()
    assert box.cpu_seconds() == pytest.approx(known, abs=tick), "what was known last"


def test_a_box_can_be_killed_while_many_threads_spin(boxes: BoxMaker, start: Start) -> None:
    box = start(boxes)
    body = b'{"do": "spin"}'
    box.connection.sendall(len(body).to_bytes(4, "little") + body)
    threads = [threading.Thread(target=box.kill) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()
    assert box.kill().reason is EndReason.KILLED
    assert box.kill() == box.end()


def test_a_paused_box_does_nothing_and_can_be_killed(boxes: BoxMaker, start: Start) -> None:
    box = start(boxes)
    ask(box, "see")
    pausable = cast("Pausable", box)
    pausable.pause()
    used = box.cpu_seconds()
    body = json.dumps({"do": "see"}).encode()
    box.connection.send(len(body).to_bytes(4, "little") + body)
    assert not readable(0.3, box.connection)
    assert box.cpu_seconds() == pytest.approx(used, abs=0.05)
    pausable.resume()
    assert readable(60, box.connection)
    pausable.pause()
    began = time.monotonic()
    assert box.kill().reason is EndReason.KILLED
    assert time.monotonic() - began < KILLED_SECONDS
    with pytest.raises(BoxUnavailable):
        pausable.resume()


def test_children_die_with_their_box(boxes: BoxMaker, start: Start) -> None:
    marker = f"grader-test-{os.getpid()}-{time.monotonic_ns()}"
    box = start(boxes, env={"MARKER": marker})
    assert ask(box, "fork", count=3)["made"] == 3
    assert ask(box, "fork", count=1, session=True)["made"] == 1
    assert len(processes_with(marker)) == 5
    box.kill()
    assert within(5, lambda: not processes_with(marker))


def processes_with(marker: str) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                # A zombie has no environment.
                if marker.encode() in (entry / "environ").read_bytes():
                    found.append(entry.name)
            except OSError:
                continue
    return found


def open_descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_an_ended_box_leaves_nothing_behind(boxes: BoxMaker, start: Start) -> None:
    first = start(boxes)  # makes everything that is made once per process
    first.kill()
    first.output()  # read to the end: its thread is over
    descriptors, threads = open_descriptors(), threading.active_count()
    for _ in range(3):
        box = boxes.start(BoxSpec(BoxPurpose.RUN, program="probe.py"))
        ask(box, "see")
        box.kill()
        assert box.connection.fileno() == -1
    assert within(5, lambda: threading.active_count() <= threads)
    assert within(5, lambda: open_descriptors() <= descriptors + 1)  # the engine's idle connections
    assert not _children_that_are_zombies()


def _children_that_are_zombies() -> list[str]:
    children = Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split()
    return [pid for pid in children if Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] == "Z"]
