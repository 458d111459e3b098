"""Limits on what attacks in a box can see, write and use."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import grader
from grader import limits
from grader.sandbox import container, image
from grader.sandbox.box import Box, BoxMaker, EndReason
from tests.sandbox.talk import ask, run

Start = Callable[..., Box]


def test_a_box_runs_as_nobody_without_capabilities(walled_boxes: BoxMaker, start: Start) -> None:
    seen = ask(start(walled_boxes), "see")
    assert (seen["uid"], seen["gid"]) == (65534, 65534)
    assert {int(value, 16) for value in seen["capabilities"].values()} == {0}
    assert seen["no_new_privileges"]
    assert seen["seccomp"] == "2"
    assert seen["hostname"] == "box"
    assert seen["pid"] == 1, "it sees no process but its own"


def test_a_box_has_no_network(walled_boxes: BoxMaker, start: Start) -> None:
    box = start(walled_boxes)
    assert ask(box, "see")["interfaces"] == ["lo"]
    for host in ("192.0.2.1", "::1"):
        assert "not supported" in ask(box, "reach", host=host, port=80)["error"]


def test_a_box_can_write_only_to_tmp(walled_boxes: BoxMaker, start: Start) -> None:
    folders = [
        "/",
        "/usr",
        "/etc",
        "/dev",
        "/dev/shm",
        "/run",
        "/var",
        "/sock",
        "/runner",
        "/proc",
        "/sys",
        sys.prefix,
    ]
    found = ask(start(walled_boxes), "can_write", folders=["/tmp", *folders])["can_write"]
    assert found.pop("/tmp") is True
    assert set(found) == set(folders)
    assert True not in found.values()


def test_tmp_is_bounded(walled_boxes: BoxMaker, start: Start) -> None:
    box = start(walled_boxes, tmp_bytes=16 * limits.MIB)
    filled = ask(box, "fill", folder="/tmp", bytes=limits.GIB)
    assert filled["filled"] <= 16 * limits.MIB
    made = ask(box, "many_files", folder="/tmp", count=100_000)
    assert made["made"] <= container.TMP_INODES
    assert made["refused"]


def test_a_fork_bomb_is_bounded(walled_boxes: BoxMaker, start: Start) -> None:
    box = start(walled_boxes, pids=20)
    assert ask(box, "fork", count=1000) == {"made": 19, "refused": "Resource temporarily unavailable"}
    assert box.kill().reason is EndReason.KILLED


def test_a_box_sees_nothing_of_the_platform(walled_boxes: BoxMaker, start: Start) -> None:
    checkout = Path(grader.__file__).resolve().parent.parent
    hidden = [checkout / name for name in ("challenges", "reference", "grader", "sandbox", ".git", "tests")]
    hidden += [
        Path.home() / ".ssh",
        Path.home() / ".local",
        Path("/var/run/docker.sock"),
        Path("/etc/shadow"),
    ]
    hidden += [Path("/home")]
    found = ask(start(walled_boxes), "can_read", paths=[str(path) for path in hidden])["can_read"]
    assert set(found.values()) == {"No such file or directory"}


def test_a_box_sees_only_its_toolchain_of_opt(walled_boxes: BoxMaker, start: Start) -> None:
    parts = {Path(path).parts[2] for path in image.layout().bound if Path(path).is_relative_to("/opt")}
    assert "/opt" not in image.layout().bound
    found = ask(start(walled_boxes), "can_read", paths=["/opt"])["can_read"]["/opt"]
    assert found == (sorted(parts) or "No such file or directory")


def test_hidden_paths_are_empty(walled_boxes: BoxMaker, start: Start) -> None:
    there = [path for path in container.MASKED if Path(path).exists()]
    found = ask(start(walled_boxes), "can_read", paths=there)["can_read"]
    refused = (
        "Permission denied",
        "No such file or directory",
        "Operation not permitted",
        "Input/output error",
    )
    assert {path: seen for path, seen in found.items() if seen not in (0, [], *refused)} == {}
    assert "/proc/kallsyms" in found


def test_kernel_settings_cannot_be_written(walled_boxes: BoxMaker, start: Start) -> None:
    code = """
import os
for path in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/sys/vm/overcommit_memory"):
    try:
        os.open(path, os.O_WRONLY)
        print("open", path)
    except OSError:
        pass
"""
    assert run(start(walled_boxes), code) == ""


def test_no_mount_but_tmp_can_be_written(walled_boxes: BoxMaker, start: Start) -> None:
    code = """
import os
mounts = [line.split()[4] for line in open("/proc/self/mountinfo")]
print(sorted({path for path in mounts if os.path.isdir(path) and os.access(path, os.W_OK)}))
"""
    assert run(start(walled_boxes), code) == "['/tmp']\n"


def test_no_core_is_dumped(walled_boxes: BoxMaker, start: Start) -> None:
    """A crash must not start the host's crash reporter either: the kernel starts it with a limit of 0, but
    not of 1.
    """
    code = """
import ctypes, os, resource
for wanted in ((0, 0), (0, 1), (1, 1)):
    try:
        resource.setrlimit(resource.RLIMIT_CORE, wanted)
        print("changed to", wanted)
    except (ValueError, OSError):
        pass
libc = ctypes.CDLL(None, use_errno=True)
if os.uname().machine == "x86_64":  # prlimit64 and setrlimit, with bits above those that the kernel looks at
    none, core = (ctypes.c_ulong * 2)(0, 0), ctypes.c_ulong(0x1_0000_0004)
    assert libc.syscall(ctypes.c_long(302), ctypes.c_long(0), core, none, None) == -1
    assert libc.syscall(ctypes.c_long(160), core, none) == -1
resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))  # other limits may be lowered
print(resource.getrlimit(resource.RLIMIT_CORE))
child = os.fork()
if child == 0:
    ctypes.string_at(0)
print(os.WCOREDUMP(os.waitpid(child, 0)[1]), [name for name in os.listdir("/tmp") if "core" in name])
"""
    assert run(start(walled_boxes), code).splitlines() == ["(1, 1)", "False []"]


def test_a_box_with_nccl_has_a_bounded_shm(walled_boxes: BoxMaker, start: Start) -> None:
    """Without a /dev/shm NCCL ends the process: seen on two H200s."""
    box = start(walled_boxes, shown_libraries=("nccl",))
    filled = ask(box, "fill", folder="/dev/shm", bytes=limits.GIB)
    assert 0 < filled["filled"] <= limits.BOX_SHM_BYTES
    assert run(box, "import os; print(os.access('/dev', os.W_OK))") == "False\n"


def test_tmp_has_a_limit_of_inodes(walled_boxes: BoxMaker, start: Start) -> None:
    said = run(start(walled_boxes), "import os; print(os.statvfs('/tmp').f_files)")
    assert int(said) == container.TMP_INODES


def test_two_boxes_share_no_memory(walled_boxes: BoxMaker, start: Start) -> None:
    """No /dev/shm, no System V memory, no common /tmp, no sockets without a path."""
    one, other = start(walled_boxes), start(walled_boxes)
    leave = """
import os
for folder in ("/dev/shm", "/dev/mqueue", "/run/lock", "/var/tmp"):
    try:
        open(f"{folder}/left", "w").write("x")
        print(folder)
    except OSError:
        pass
open("/tmp/left", "w").write("x")
"""
    assert run(one, leave) == "", "nowhere but in its own /tmp"
    assert run(other, "import os; print(os.path.exists('/tmp/left'))") == "False\n"
    # The first box's child holds the socket while the second knocks.
    held = """
import os, socket, time
made = socket.socket(socket.AF_UNIX); made.bind("\\0grader-test"); made.listen()
if os.fork() == 0:
    [os.close(number) for number in (0, 1, 2)]; time.sleep(30)
"""
    assert run(one, held) == ""
    knock = """
import socket
try:
    socket.socket(socket.AF_UNIX).connect("\\0grader-test"); print("shared")
except ConnectionRefusedError:
    print("apart")
"""
    assert run(one, knock) == "shared\n"
    assert run(other, knock) == "apart\n"
