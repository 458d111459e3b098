"""Plain processes, beyond the common interface."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from grader.sandbox.box import Box, BoxMaker, BoxPurpose, BoxSpec
from grader.sandbox.processes import is_alive
from tests.sandbox.talk import ask, within

# A shell's background jobs ignore SIGINT, and this parent would too if the tests run as one.
PARENT = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from grader.sandbox.box import BoxSpec, BoxPurpose
from grader.sandbox.choose import make_boxes
from tests.sandbox.talk import ask
box = make_boxes(sys.argv[1]).start(BoxSpec(BoxPurpose.RUN, program="probe.py"))
print(box.id, ask(box, "see")["pid"], flush=True)
time.sleep(600)
"""


def start_parent(kind: str) -> tuple[subprocess.Popen[str], str, int]:
    """Start a process that owns a box. Returns it, the box's id and the number of the box's process (by the box)."""
    parent = subprocess.Popen([sys.executable, "-c", PARENT, kind], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    name, pid = parent.stdout.readline().split()
    return parent, name, int(pid)


def end_parent(parent: subprocess.Popen[str], number: int) -> None:
    parent.send_signal(number)
    parent.wait(20)
    assert parent.stdout is not None
    parent.stdout.close()


def test_a_local_box_dies_with_its_parent(local_boxes: BoxMaker) -> None:
    parent, _, pid = start_parent("local")
    folder = Path(f"/proc/{pid}/cwd").readlink()
    local_boxes.reap()
    assert folder.exists()
    end_parent(parent, signal.SIGKILL)
    assert within(5, lambda: _state(pid) == "Z")
    local_boxes.reap()
    assert not folder.exists()


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except OSError:
        return "Z"


def test_a_local_box_outlives_its_starting_thread(local_boxes: BoxMaker) -> None:
    made: list[Box] = []
    thread = threading.Thread(
        target=lambda: made.append(local_boxes.start(BoxSpec(BoxPurpose.RUN, program="probe.py")))
    )
    thread.start()
    thread.join()
    box = made[0]
    assert ask(box, "see")["pid"]
    assert box.end(wait_s=0.3) is None
    box.kill()


def test_a_local_boxs_folder_is_removed(local_boxes: BoxMaker, start: Callable[..., Box]) -> None:
    box = start(local_boxes)
    seen = ask(box, "see")
    folder = Path(seen["cwd"])
    assert folder == Path(seen["env"]["HOME"])
    assert folder.exists()
    assert folder.stat().st_mode & 0o077 == 0
    ask(box, "many_files", folder=str(folder), count=5)
    box.kill()
    assert not folder.exists()


def test_a_local_box_leads_a_session(local_boxes: BoxMaker, start: Callable[..., Box]) -> None:
    seen = ask(start(local_boxes), "see")
    assert seen["pid"] == seen["group"] == seen["session"]
    assert seen["no_new_privileges"]
    assert seen["oom_score"] == 1000


def test_a_zombie_is_not_alive() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert is_alive(child.pid)
    child.kill()
    assert within(5, lambda: _state(child.pid) == "Z")
    assert not is_alive(child.pid)
    child.communicate()
    assert not is_alive(child.pid)
