"""What a box is refused beyond Docker's defaults, each tried from within; and that ordinary work goes on."""

from __future__ import annotations

import errno
import json
import platform
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader import limits
from grader.errors import BoxUnavailable
from grader.sandbox import container, memory_kills, runtime, seccomp
from grader.sandbox.box import Box, BoxEnd, BoxMaker, BoxSpec, EndReason, Purpose
from grader.sandbox.choose import make_boxes
from grader.sandbox.compiler.nvcc import CompileRequest, compile_cuda
from grader.sandbox.docker_box import DockerBox
from grader.sandbox.docker_engine import engine
from grader.sandbox.engine_facts import EngineFacts
from grader.sandbox.gpu import Gpu
from grader.sandbox.toolkit import nvcc_version
from tests.components import need
from tests.sandbox.talk import ask
from tests.sandbox.test_nvcc import FOOTER, SOURCE

Start = Callable[..., Box]
docker = pytest.mark.docker

# Raw system calls by their numbers on x86-64. Most of them an ordinary user may make on an ordinary system, so that it
# is the filter that refuses them; the rest need privileges as well. Arguments are such that the call would do its work,
# or at least get further than to a check of who is asking.
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
    given = [os.getpid() if it == "own" else it.encode("latin-1") if isinstance(it, str) else it for it in call]
    kept = [ctypes.create_string_buffer(it, 256) if isinstance(it, bytes) else ctypes.c_long(it) for it in given]
    ctypes.set_errno(0)
    result = libc.syscall(*kept)
    found[name] = 0 if result >= 0 else ctypes.get_errno()
    if name.startswith("clone") and result == 0 and os.getpid() == 1:
        os._exit(0)
print(json.dumps(found))
"""


def run(box: Box, code: str) -> str:
    """What ``code`` prints in the box. It must end well."""
    ran = ask(box, "python", code=code)
    assert ran.get("code") == 0, ran
    return str(ran["out"])


def call(box: Box, calls: dict[str, Any]) -> dict[str, int]:
    """For each system call the error that it was refused with; 0 where it went through."""
    return dict(json.loads(run(box, f"CALLS = {json.dumps(calls)!r}\n{CALL}")))


# System calls


@docker
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers are those of x86-64")
def test_forbidden_calls_are_refused(docker_boxes: BoxMaker, start: Start) -> None:
    found = call(start(docker_boxes), FORBIDDEN)
    assert set(found) == set(FORBIDDEN)
    assert {
        name: errno.errorcode.get(code, code) for name, code in found.items() if code not in REFUSALS
    } == {}
    assert found["clone3"] == errno.ENOSYS, "or the C library would not fall back to clone"


@docker
@pytest.mark.skipif(platform.machine() != "x86_64", reason="machine code of x86-64")
def test_calls_of_32_bit_are_refused(docker_boxes: BoxMaker, start: Start) -> None:
    """A filter by number is worth nothing where the same kernel offers other numbers."""
    # mov eax, 20 (getpid there); int 0x80; ret
    code = """
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=7)
page.write(bytes.fromhex("b814000000cd80c3"))
made = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
print("it answered", made())
"""
    ran = ask(start(docker_boxes), "python", code=code)
    assert ran["code"] == -signal.SIGSYS or "it answered -" in ran["out"], ran


@docker
def test_its_own_child_cannot_be_traced(docker_boxes: BoxMaker, start: Start) -> None:
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
    assert run(start(docker_boxes), code).splitlines()[0] == f"-1 {errno.EPERM}"


@docker
def test_what_programs_need_goes_on(docker_boxes: BoxMaker, start: Start) -> None:
    code = """
import ctypes, mmap, os, select, signal, socket, subprocess, tempfile, threading, time
threads = [threading.Thread(target=time.sleep, args=(0.01,)) for _ in range(8)]
[it.start() for it in threads]; [it.join() for it in threads]
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
    assert run(start(docker_boxes), code) == "well\n"


@docker
def test_torch_works(docker_boxes: BoxMaker, start: Start) -> None:
    code = """
import torch
torch.set_num_threads(2)
x = torch.ones(300, 300)
print(float((x @ x).sum()), torch.linalg.svdvals(x)[0].item() > 299)
"""
    assert run(start(docker_boxes), code) == "27000000.0 True\n"


@docker
def test_tritons_interpreter_starts(docker_boxes: BoxMaker) -> None:
    box = docker_boxes.start(BoxSpec(Purpose.RUN, env={"GRADER_PRELOAD": "triton"}))
    try:
        box.connection.settimeout(60)
        assert box.connection.recv(4), "its hello"
    finally:
        box.kill()


@docker
@pytest.mark.skipif(nvcc_version() is None, reason="no CUDA compiler")
def test_nvcc_works(docker_boxes: BoxMaker) -> None:
    marked = f"// compiled in a hardened box\n{SOURCE}"  # so that no cache answers
    result = compile_cuda(docker_boxes, CompileRequest(marked, FOOTER))
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


# What it sees and may use


@docker
def test_hidden_paths_are_empty(docker_boxes: BoxMaker, start: Start) -> None:
    there = [path for path in container.MASKED if Path(path).exists()]
    found = ask(start(docker_boxes), "can_read", paths=there)["can_read"]
    refused = (
        "Permission denied",
        "No such file or directory",
        "Operation not permitted",
        "Input/output error",
    )
    assert {path: seen for path, seen in found.items() if seen not in (0, [], *refused)} == {}
    assert "/proc/kallsyms" in found


@docker
def test_kernel_settings_cannot_be_written(docker_boxes: BoxMaker, start: Start) -> None:
    code = """
import os
for path in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/sys/vm/overcommit_memory"):
    try:
        os.open(path, os.O_WRONLY)
        print("open", path)
    except OSError:
        pass
"""
    assert run(start(docker_boxes), code) == ""


@docker
def test_no_mount_but_tmp_can_be_written(docker_boxes: BoxMaker, start: Start) -> None:
    code = """
import os
mounts = [line.split()[4] for line in open("/proc/self/mountinfo")]
print(sorted({path for path in mounts if os.path.isdir(path) and os.access(path, os.W_OK)}))
"""
    assert run(start(docker_boxes), code) == "['/tmp']\n"


@docker
def test_no_core_is_dumped(docker_boxes: BoxMaker, start: Start) -> None:
    """Nor may a crash start the host's crash reporter: with a limit of 1 the kernel does not, and with 0 it does."""
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
print(os.WCOREDUMP(os.waitpid(child, 0)[1]), [it for it in os.listdir("/tmp") if "core" in it])
"""
    assert run(start(docker_boxes), code).splitlines() == ["(1, 1)", "False []"]


@docker
def test_tmp_has_so_many_inodes(docker_boxes: BoxMaker, start: Start) -> None:
    said = run(start(docker_boxes), "import os; print(os.statvfs('/tmp').f_files)")
    assert int(said) == container.TMP_INODES


@docker
def test_two_boxes_share_no_memory(docker_boxes: BoxMaker, start: Start) -> None:
    """No /dev/shm, no System V memory, no common /tmp, no sockets without a path."""
    one, other = start(docker_boxes), start(docker_boxes)
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
    # The first holds the socket while the second knocks: its child lives on.
    held = """
import os, socket, time
made = socket.socket(socket.AF_UNIX); made.bind("\\0grader-test"); made.listen()
if os.fork() == 0:
    [os.close(it) for it in (0, 1, 2)]; time.sleep(30)
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


@docker
def test_users_are_mapped_where_the_engine_does_it(docker_boxes: BoxMaker, start: Start) -> None:
    first, outside, _ = run(start(docker_boxes), "print(open('/proc/self/uid_map').readline())").split()
    assert first == "0"
    assert (outside != "0") == engine().facts().remaps_users


# Control groups


@docker
def test_limits_are_set_in_the_control_group(docker_boxes: BoxMaker, start: Start) -> None:
    """The same limits under either version; swap adds nothing to memory."""
    code = """
import json, os
names = {1: ["memory/memory.limit_in_bytes", "memory/memory.memsw.limit_in_bytes", "pids/pids.max"],
         2: ["memory.max", "memory.swap.max", "pids.max"]}[VERSION]
paths = [f"/sys/fs/cgroup/{name}" for name in names]
print(json.dumps([open(path).read().strip() if os.path.exists(path) else None for path in paths]))
"""
    version = engine().facts().cgroup
    memory = 512 * limits.MIB
    box = start(docker_boxes, memory_bytes=memory, pids=77)
    found = json.loads(run(box, f"VERSION = {version}\n{code}"))
    if found == [None] * 3:
        pytest.skip("this runtime shows no control groups to the box")
    swap = "0" if version == 2 else str(memory)
    assert found[0] == str(memory)
    assert found[1] in (swap, None), "a kernel that does not count swap has no file for it"
    assert found[2] == "77"


def test_the_engine_says_its_control_groups() -> None:
    assert EngineFacts.of({"CgroupVersion": "2"}).cgroup == 2
    assert EngineFacts.of({"CgroupVersion": "1"}).cgroup == 1
    assert EngineFacts.of({}).cgroup == 1
    facts = EngineFacts.of(
        {"SecurityOptions": ["name=seccomp,profile=default", "name=userns"], "Runtimes": {"runc": {}}}
    )
    assert facts.options == {"seccomp", "userns"}
    assert facts.remaps_users
    assert facts.runtimes == ("runc",)
    assert facts.sentence("runc") == "docker: runc, control groups 1, users remapped"


def test_limits_that_the_engine_leaves_out_are_known() -> None:
    assert EngineFacts.of({"MemoryLimit": True, "SwapLimit": False, "PidsLimit": False}).unbounded == (
        "swap",
        "processes",
    )
    assert EngineFacts.of({}).unbounded == ()


def ended(monkeypatch: pytest.MonkeyPatch, state: dict[str, Any], kills: int) -> BoxEnd:
    """How a box says it ended whose engine says ``state``, after ``kills`` of the kernel's since it began."""
    box = object.__new__(DockerBox)

    class Telling:
        def state(self, _container: str) -> dict[str, Any]:
            return state

    box._engine, box._container, box._memory_kills = Telling(), "x", 5  # type: ignore[assignment]
    monkeypatch.setattr("grader.sandbox.docker_box.memory_kills", lambda: 5 + kills)
    return box._own_end()


@pytest.mark.parametrize(
    ("state", "kills", "reason"),
    [
        ({"ExitCode": 137, "OOMKilled": True}, 0, EndReason.OUT_OF_MEMORY),
        ({"ExitCode": 137, "OOMKilled": False}, 1, EndReason.OUT_OF_MEMORY),
        ({"ExitCode": 137, "OOMKilled": False}, 0, EndReason.SIGNALLED),
        ({"ExitCode": 139, "OOMKilled": False}, 1, EndReason.SIGNALLED),
        ({"ExitCode": 1, "OOMKilled": False}, 1, EndReason.EXITED),
    ],
)
def test_want_of_memory_is_told_also_where_the_engine_missed_it(
    monkeypatch: pytest.MonkeyPatch, state: dict[str, Any], kills: int, reason: EndReason
) -> None:
    assert ended(monkeypatch, state, kills).reason is reason


def test_the_kernels_count_of_kills_is_read(tmp_path: Path) -> None:
    counters = tmp_path / "vmstat"
    counters.write_text("pgpgin 1\noom_kill 7\noom_kill_disable 9\n")
    assert memory_kills.memory_kills(counters) == 7
    assert memory_kills.memory_kills(tmp_path / "missing") == 0


# The runtime


FACTS = EngineFacts(runtimes=("runc", "runsc"), cgroup=2, options=frozenset())


def test_runc_is_the_runtime_unless_another_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert runtime.chosen_runtime() == "runc"
    monkeypatch.setenv("GRADER_RUNTIME", "runsc")
    assert runtime.chosen_runtime() == "runsc"


def test_a_runtime_that_the_engine_lacks_is_refused() -> None:
    runtime.check_known("runsc", FACTS)
    with pytest.raises(BoxUnavailable, match=r"no runtime 'kata'; it has: runc, runsc") as caught:
        runtime.check_known("kata", FACTS)
    assert "GRADER_RUNTIME" in caught.value.hint


def test_a_gpu_is_refused_to_runsc() -> None:
    gpu = Gpu(0, "GPU-1", ("/dev/nvidia0",))
    for purpose in (Purpose.RUN, Purpose.COMPILE):
        runtime.check_fits("runsc", BoxSpec(purpose))
    runtime.check_fits("runc", BoxSpec(Purpose.RUN, gpu=gpu))
    with pytest.raises(BoxUnavailable, match="GPU cannot be run by 'runsc'"):
        runtime.check_fits("runsc", BoxSpec(Purpose.RUN, gpu=gpu))


@docker
def test_a_box_is_run_by_the_chosen_runtime(docker_boxes: BoxMaker, start: Start) -> None:
    box = start(docker_boxes)
    assert isinstance(box, DockerBox)
    made = engine().client.inspect_container(box.id)["HostConfig"]
    assert made["Runtime"] == "runc"
    assert made["IpcMode"] == "none"
    assert set(container.MASKED) == set(made["MaskedPaths"])


@docker
@pytest.mark.parametrize("kind", ["docker", "auto"])
def test_no_other_box_is_made_where_the_chosen_runtime_is_missing(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("docker")
    monkeypatch.setenv("GRADER_RUNTIME", "no-such-runtime")
    with pytest.raises(BoxUnavailable, match="no runtime 'no-such-runtime'"):
        make_boxes(kind)
