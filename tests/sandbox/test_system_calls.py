"""System calls that a box must refuse, each tried from within, and a check that ordinary work succeeds."""

from __future__ import annotations

import errno
import json
import platform
import signal
from collections.abc import Callable
from typing import Any

import pytest

from grader.sandbox import seccomp
from grader.sandbox.box import Box, BoxMaker, BoxPurpose, BoxSpec
from grader.sandbox.compiler.nvcc import CompileRequest, compile_cuda
from tests.sandbox.talk import ask, run
from tests.sandbox.test_nvcc import FOOTER, SOURCE

Start = Callable[..., Box]

# Raw system calls by their numbers on x86-64. An ordinary user on an ordinary system may make most of them,
# so the filter refuses them; the rest also need privileges. With their arguments the calls would do their
# work, or at least pass the check of the caller.
FORBIDDEN = {
    "keyctl": (250, 0, -3, 1),
    "add_key": (248, "user", "grader-test", "x", 1, -3),
    "request_key": (249, "user", "grader-test", 0, 0),
    "io_uring_setup": (425, 4, "\0" * 200),
    "userfaultfd": (323, 1),
    "perf_event_open": (298, "\0" * 120, 0, -1, -1, 0),
    "bpf": (321, 0, "\0" * 120, 72),
    "ptrace": (101, 0, 0, 0, 0),
    "process_vm_readv": (310, "own", 0, 0, 0, 0, 0),
    "process_vm_writev": (311, "own", 0, 0, 0, 0, 0),
    "pidfd_getfd": (438, 0, 0, 0),
    "kcmp": (312, "own", "own", 0, 0, 0),
    "mount": (165, "none", "/tmp", "tmpfs", 0, 0),
    "umount2": (166, "/tmp", 0),
    "pivot_root": (155, "/tmp", "/tmp"),
    "chroot": (161, "/tmp"),
    "fsopen": (430, "tmpfs", 0),
    "open_tree": (428, -100, "/tmp", 1),
    "unshare, of users": (272, 0x10000000),
    "unshare, of mounts": (272, 0x00020000),
    "setns": (308, 0, 0),
    "clone, of users": (56, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0),
    "clone, of pids": (56, 0x20000000 | signal.SIGCHLD, 0, 0, 0, 0),
    "clone3": (435, "\0" * 88, 88),
    "kexec_load": (246, 0, 0, 0, 0),
    "init_module": (175, "x", 1, ""),
    "finit_module": (313, 0, "", 0),
    "delete_module": (176, "x", 0),
    "open_by_handle_at": (304, 0, "\0" * 200, 0),
    "name_to_handle_at": (303, -100, "/tmp", "\0" * 200, "\0" * 8, 0),
    "quotactl": (179, 0x800001, "/dev/vda", 0, "\0" * 200),
    "swapon": (167, "/tmp/x", 0),
    "reboot": (169, 0, 0, 0, 0),
    "settimeofday": (164, "\0" * 16, 0),
    "clock_adjtime": (305, 0, "\0" * 208),
    "personality": (135, 0x0040000),
    "vmsplice": (278, 1, 0, 0, 0),
    "splice": (275, 0, 0, 1, 0, 1, 0),
    "io_setup": (206, 1, "\0" * 8),
    "inotify_init1": (294, 0),
    "fanotify_init": (300, 0x200, 0),
    "shmget": (29, 0, 4096, 0o1600),
    "msgget": (68, 0, 0o1600),
    "semget": (64, 0, 1, 0o1600),
    "mq_open": (240, "x", 0o102, 0o600, 0),
    "mknod, of a pipe": (133, "/tmp/pipe", 0o10600, 0),
    "setxattr": (188, "/tmp", "user.x", "x", 1, 0),
    "modify_ldt": (154, 0, "\0" * 16, 16),
    "acct": (163, "/tmp/x"),
    "syslog": (103, 3, "\0" * 200, 200),
    "sync": (162,),
    "iopl": (172, 3),
    "memfd_secret": (447, 0),
    "mmap, of huge pages": (9, 0, 1 << 21, 3, 0x40022, -1, 0),
    "memfd_create, of huge pages": (319, "x", 4),
    "socket, of IPv4": (41, 2, 1, 0),
    "socket, of IPv6": (41, 10, 2, 0),
    "socket, of packets": (41, 17, 3, 0),
    "socket, of virtual machines": (41, 40, 1, 0),
    "socket, of the kernel's crypto": (41, 38, 5, 0),
    "socket, of firewalls": (41, 16, 3, 12),
}
REFUSALS = {errno.EPERM, errno.ENOSYS, errno.EAFNOSUPPORT}

CALL = """
import ctypes, json, os, sys
libc = ctypes.CDLL(None, use_errno=True)
found = {}
for name, call in json.loads(CALLS).items():
    given = [os.getpid() if one == "own" else one.encode("latin-1") if isinstance(one, str) else one for one in call]
    kept = [ctypes.create_string_buffer(one, 256) if isinstance(one, bytes) else ctypes.c_long(one) for one in given]
    ctypes.set_errno(0)
    result = libc.syscall(*kept)
    found[name] = 0 if result >= 0 else ctypes.get_errno()
    if name.startswith("clone") and result == 0 and os.getpid() == 1:
        os._exit(0)
print(json.dumps(found))
"""


def call(box: Box, calls: dict[str, Any]) -> dict[str, int]:
    """The error of each system call; 0 if it succeeded."""
    return dict(json.loads(run(box, f"CALLS = {json.dumps(calls)!r}\n{CALL}")))


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers are those of x86-64")
def test_forbidden_calls_are_refused(walled_boxes: BoxMaker, start: Start) -> None:
    found = call(start(walled_boxes), FORBIDDEN)
    assert set(found) == set(FORBIDDEN)
    assert {
        name: errno.errorcode.get(code, code) for name, code in found.items() if code not in REFUSALS
    } == {}
    assert found["clone3"] == errno.ENOSYS, "or the C library would not fall back to clone"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="machine code of x86-64")
def test_calls_of_32_bit_are_refused(walled_boxes: BoxMaker, start: Start) -> None:
    """A filter by number is useless if the kernel also offers other numbers."""
    # mov eax, 20 (getpid there); int 0x80; ret
    code = """
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=7)
page.write(bytes.fromhex("b814000000cd80c3"))
made = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
print("it answered", made())
"""
    ran = ask(start(walled_boxes), "python", code=code)
    assert ran["code"] == -signal.SIGSYS or "it answered -" in ran["out"], ran


def test_a_child_cannot_be_traced(walled_boxes: BoxMaker, start: Start) -> None:
    code = """
import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
child = os.fork()
if child == 0:
    signal.pause()
print(libc.ptrace(16, child, 0, 0), ctypes.get_errno())
os.kill(child, signal.SIGKILL)
try:
    open(f"/proc/{os.getppid()}/mem", "rb").read(1)
except OSError as error:
    print(error.strerror)
"""
    assert run(start(walled_boxes), code).splitlines()[0] == f"-1 {errno.EPERM}"


def test_ordinary_system_calls_work(walled_boxes: BoxMaker, start: Start) -> None:
    code = """
import ctypes, mmap, os, select, signal, socket, subprocess, tempfile, threading, time
threads = [threading.Thread(target=time.sleep, args=(0.01,)) for _ in range(8)]
[thread.start() for thread in threads]; [thread.join() for thread in threads]
assert subprocess.run(["/bin/sh", "-c", "echo hi | tr h H"], capture_output=True).stdout == b"Hi\\n"
left, right = socket.socketpair(); left.send(b"x"); assert right.recv(1) == b"x"
memory = os.memfd_create("x"); os.ftruncate(memory, 1 << 20); mmap.mmap(memory, 1 << 20)[0] = 1
os.eventfd(1); select.epoll(); os.pipe2(os.O_CLOEXEC); os.pidfd_open(os.getpid()); signal.alarm(0)
os.sched_setaffinity(0, os.sched_getaffinity(0)); os.getrandom(8); os.sched_yield()
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prlimit(0, 7, None, ctypes.create_string_buffer(16)) == 0
assert libc.personality(ctypes.c_ulong(0xFFFFFFFF)) == 0
if os.uname().machine == "x86_64":  # NUMA: set_mempolicy, get_mempolicy; a kernel without it says ENOSYS
    for number in (238, 239):
        assert libc.syscall(number, 0, None, 0, None, 0) == 0 or ctypes.get_errno() == 38
with tempfile.TemporaryDirectory() as folder:
    os.symlink("a", f"{folder}/b"); os.rename(f"{folder}/b", f"{folder}/c"); open(f"{folder}/d", "w").write("x")
print("well")
"""
    assert run(start(walled_boxes), code) == "well\n"


def test_torch_works(walled_boxes: BoxMaker, start: Start) -> None:
    code = """
import torch
torch.set_num_threads(2)
x = torch.ones(300, 300)
print(float((x @ x).sum()), torch.linalg.svdvals(x)[0].item() > 299)
"""
    assert run(start(walled_boxes), code) == "27000000.0 True\n"


def test_tritons_interpreter_starts(walled_boxes: BoxMaker) -> None:
    box = walled_boxes.start(BoxSpec(BoxPurpose.RUN, env={"GRADER_PRELOAD": "triton"}))
    try:
        box.connection.settimeout(60)
        assert box.connection.recv(4), "its hello"
    finally:
        box.kill()


@pytest.mark.needs("nvcc")
def test_nvcc_works(walled_boxes: BoxMaker) -> None:
    marked = f"// compiled in a hardened box\n{SOURCE}"  # not in any cache
    result = compile_cuda(walled_boxes, CompileRequest(marked, FOOTER))
    assert result.ok, result.log


def test_the_profile_is_an_allow_list() -> None:
    made = json.loads(seccomp.profile())
    assert made["defaultAction"] == "SCMP_ACT_ERRNO"
    assert {rule["action"] for rule in made["syscalls"]} == {"SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO"}
    names = seccomp.allowed_calls()
    assert len(names) == len(set(names)), "each is allowed once, for one reason"
    assert not set(names) & set(seccomp.ABSENT.split())
    whole = {name for rule in made["syscalls"] if not rule.get("args") for name in rule["names"]}
    assert not whole & {"clone", "personality", "socket", "socketpair", "mmap", "memfd_create"}
    assert all(group.why.endswith(".") for group in seccomp.ALLOWED)
