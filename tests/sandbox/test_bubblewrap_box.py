"""Boxes made by bubblewrap, beyond the common interface."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader import limits
from grader.errors import BoxUnavailable
from grader.sandbox import bubblewrap_box
from grader.sandbox.box import Box, BoxMaker, BoxPurpose, BoxSpec, EndReason
from grader.sandbox.bubblewrap_box import BubblewrapBox, BubblewrapBoxes
from grader.sandbox.control_groups import KIND, ControlGroup
from grader.sandbox.parent import is_left_behind, owned_name
from grader.sandbox.processes import descendants, parent_of
from tests.components import need
from tests.sandbox.talk import Silent, ask, run, within
from tests.sandbox.test_local_box import end_parent, start_parent

Start = Callable[..., Box]
pytestmark = pytest.mark.bubblewrap


@pytest.fixture
def ungrouped(monkeypatch: pytest.MonkeyPatch) -> Iterator[BubblewrapBoxes]:
    """On a host without control groups, where limits of processes must do."""
    need("bubblewrap")
    monkeypatch.setattr(bubblewrap_box, "find_groups", lambda: None)
    maker = BubblewrapBoxes()
    yield maker
    maker.close()


def boxes_of(pid: int) -> list[int]:
    """The bubblewrap processes of process ``pid``, and everything in their boxes."""
    return [
        child
        for child in descendants(pid)[1:]
        if _word(child).startswith("grader-bubblewrap-") or parent_of(child) != pid
    ]


def _word(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().partition(b"\0")[0].decode()
    except OSError:
        return ""


def groups() -> list[str]:
    """Other tests make and remove groups in the meantime, which os.walk tolerates."""
    return sorted(
        name
        for _, folders, _ in os.walk("/sys/fs/cgroup")
        for name in folders
        if name.startswith(f"grader-{KIND}-")
    )


def own_groups() -> list[str]:
    """Groups of this process's boxes: other tests may be running."""
    return [name for name in groups() if f"-{os.getpid()}-" in name]


def test_a_boxs_user_is_nobody_or_the_one_who_started_it(bubblewrap_boxes: BoxMaker, start: Start) -> None:
    """Never root, even if root starts it, and no user that the host knows by another name."""
    box = start(bubblewrap_boxes)
    assert isinstance(box, BubblewrapBox)
    status = Path(f"/proc/{box._first_pid}/status").read_text()
    users = next(line.split()[1:] for line in status.splitlines() if line.startswith("Uid:"))
    assert users == [str(os.getuid() or 65534)] * 4
    inside = run(box, "print(open('/proc/self/uid_map').read())").split()
    assert inside == (["0", "0", "4294967295"] if os.getuid() == 0 else ["65534", str(os.getuid()), "1"])


def test_a_box_is_bounded_by_a_control_group_if_possible(
    bubblewrap_boxes: BubblewrapBoxes, start: Start
) -> None:
    if not bubblewrap_boxes.bounded:
        pytest.skip("this process can make no control groups")
    box = start(bubblewrap_boxes, memory_bytes=512 * limits.MIB, pids=77, cpus=0.5)
    assert isinstance(box, BubblewrapBox)
    assert isinstance(box._group, ControlGroup)
    values = {
        name: (folder / name).read_text().strip()
        for folder in box._group._folders
        for name in ("memory.limit_in_bytes", "memory.max", "pids.max", "cpu.cfs_quota_us", "cpu.max")
        if (folder / name).exists()
    }
    first = box._group._folders[0]
    assert str(box._first_pid) in (first / "cgroup.procs").read_text().split()
    assert values.pop("pids.max") == "77"
    assert str(512 * limits.MIB) in values.values()
    assert {"50000", "50000 100000"} & set(values.values())
    box.kill()
    assert not first.exists()


@pytest.mark.parametrize("spread", [False, True])
def test_memory_is_bounded_without_control_groups(
    ungrouped: BubblewrapBoxes, start: Start, spread: bool
) -> None:
    assert "limits of processes" in ungrouped.about
    box = start(ungrouped, memory_bytes=256 * limits.MIB)
    code = """
import os, time
[os.fork() for _ in range(3)]
held = bytearray(os.urandom(1)) * (100 << 20)
time.sleep(60)
"""
    with pytest.raises(Silent):
        ask(box, "python", code=code) if spread else ask(box, "use_memory", bytes=4 * limits.GIB)
    end = box.end(wait_s=30)
    assert end is not None
    assert end.reason is EndReason.OUT_OF_MEMORY


def test_processes_are_bounded_without_control_groups(ungrouped: BubblewrapBoxes, start: Start) -> None:
    box = start(ungrouped, pids=30)
    other = start(ungrouped, pids=30)
    made = ask(box, "fork", count=1000)
    assert made["refused"] == "Resource temporarily unavailable"
    assert 0 < made["made"] < 100
    if os.getuid() != 0:
        assert made["made"] == 29, "each box counts for itself"
        assert ask(other, "fork", count=20)["made"] == 20


def test_a_box_dies_with_its_parent(bubblewrap_boxes: BoxMaker) -> None:
    parent, _, _ = start_parent("bubblewrap")
    running = boxes_of(parent.pid)
    assert running
    bubblewrap_boxes.reap()
    assert boxes_of(parent.pid) == running, "its parent lives"
    end_parent(parent, signal.SIGKILL)
    assert within(30, lambda: not any(Path(f"/proc/{pid}").exists() for pid in running))
    bubblewrap_boxes.reap()
    assert not [name for name in groups() if is_left_behind(KIND, name)]


def test_an_ended_process_leaves_no_box() -> None:
    need("bubblewrap")
    parent, _, _ = start_parent("bubblewrap")
    running = boxes_of(parent.pid)
    end_parent(parent, signal.SIGINT)
    assert not any(Path(f"/proc/{pid}").exists() for pid in running)
    assert not [name for name in groups() if f"-{parent.pid}-" in name]


def test_a_box_dies_with_its_maker(bubblewrap_boxes: BoxMaker, start: Start) -> None:
    box = start(bubblewrap_boxes)
    assert isinstance(box, BubblewrapBox)
    ask(box, "fork", count=2)
    inside = descendants(box._process.pid)[1:]
    os.kill(box._process.pid, signal.SIGKILL)
    assert box.end(wait_s=30) is not None
    assert within(30, lambda: not any(Path(f"/proc/{pid}").exists() for pid in inside))


def test_only_boxes_of_dead_owners_are_reaped(bubblewrap_boxes: BoxMaker, start: Start) -> None:
    """For when the kernel's "die with your parent" comes too late: the name of bubblewrap's process names the
    owner.
    """
    gone = subprocess.Popen(["true"])
    gone.wait(30)
    name = owned_name("bubblewrap")
    dead = name.replace(f"-{os.getpid()}-", f"-{gone.pid}-")
    words = [
        (f"{dead}bubblewrap-1", True),
        (f"{name}bubblewrap-2", False),
        ("grader-bubblewrap-1-1-1-x", False),
    ]
    left = [(subprocess.Popen([word, "600"], executable="/bin/sleep"), ends) for word, ends in words]
    box = start(bubblewrap_boxes)
    try:
        bubblewrap_boxes.reap()
        assert left[0][0].wait(30) == -signal.SIGKILL
        assert [process.poll() for process, ends in left if not ends] == [None, None]
        assert ask(box, "see")["pid"] == 1
    finally:
        for process, _ in left:
            process.kill()
            process.wait(30)


def test_a_start_that_takes_too_long_leaves_nothing(bubblewrap_boxes: BoxMaker) -> None:
    before = own_groups()
    with pytest.raises(BoxUnavailable, match="could not start a box: it took too long"):
        bubblewrap_boxes.start(BoxSpec(BoxPurpose.RUN, program="probe.py", start_seconds=0.0))
    assert not [
        pid for pid in boxes_of(os.getpid()) if "probe.py" in Path(f"/proc/{pid}/cmdline").read_text()
    ]
    assert set(own_groups()) <= set(before)


def test_a_box_sees_no_disks_networks_or_terminals_of_the_host(
    bubblewrap_boxes: BoxMaker, start: Start
) -> None:
    code = """
import json, os
print(json.dumps([os.listdir(path) for path in ("/sys", "/sys/devices", "/sys/devices/system", "/dev")]))
"""
    seen = json.loads(run(start(bubblewrap_boxes), code))
    assert set(seen[0]) == {"devices"}
    assert set(seen[1]) == {"system"}
    assert set(seen[2]) <= {"cpu", "node"}
    assert set(seen[3]) == {"fd", "full", "null", "random", "stderr", "stdin", "stdout", "urandom", "zero"}
