"""The allow list of system calls, for Docker and the kernel.

A box runs only Python, torch, Triton, a compiler and CUDA's driver. Other calls are attack surface.
"""

from __future__ import annotations

import errno
import functools
import json
import os
from dataclasses import dataclass
from stat import S_IFIFO
from typing import Any

from grader.errors import BoxUnavailable


@dataclass(frozen=True)
class CallGroup:
    why: str
    calls: str


# Of 64-bit machines. Engines ignore unknown names.
ALLOWED = (
    CallGroup(
        "Programs begin, fork, wait and end.",
        "execve execveat exit exit_group fork vfork wait4 waitid set_tid_address arch_prctl prctl "
        "restart_syscall",
    ),
    CallGroup(
        "A runtime gives up what it still has after the filter is in place; there is nothing to gain by it.",
        "capget capset",
    ),
    CallGroup(
        "Threads and their locks; membarrier and rseq are how the C library makes them quick.",
        "futex futex_waitv futex_wake futex_wait futex_requeue set_robust_list get_robust_list rseq "
        "membarrier gettid",
    ),
    CallGroup(
        "Memory, also on chosen NUMA nodes: CUDA pins and binds what it shares with a GPU.",
        "brk munmap mremap mprotect madvise mincore msync mlock mlock2 mlockall munlock munlockall "
        "get_mempolicy set_mempolicy mbind pkey_alloc pkey_free pkey_mprotect map_shadow_stack "
        "cachestat mseal",
    ),
    CallGroup(
        "Files are opened, read, written and looked at.",
        "open openat openat2 creat close close_range read readv pread64 preadv preadv2 write writev pwrite64 "
        "pwritev pwritev2 lseek stat fstat lstat newfstatat statx statfs fstatfs access faccessat faccessat2 "
        "readlink readlinkat getdents getdents64 getcwd chdir fchdir umask getxattr lgetxattr fgetxattr "
        "listxattr llistxattr flistxattr",
    ),
    CallGroup(
        "Files are made, changed and removed: compilers do it in /tmp, the one place that can be written.",
        "mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 link linkat symlink symlinkat chmod "
        "fchmod fchmodat fchmodat2 chown fchown lchown fchownat truncate ftruncate fallocate fadvise64 "
        "sync_file_range fsync fdatasync utime utimes utimensat futimesat flock sendfile copy_file_range "
        "readahead",
    ),
    CallGroup(
        "Descriptors are passed and waited for; CUDA talks to its driver by ioctl.",
        "dup dup2 dup3 fcntl ioctl pipe pipe2 poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl "
        "epoll_wait epoll_pwait epoll_pwait2 eventfd eventfd2 signalfd signalfd4",
    ),
    CallGroup(
        "Sockets that are already there; which new ones may be made is said below.",
        "bind connect listen accept accept4 getsockname getpeername getsockopt setsockopt sendto sendmsg "
        "sendmmsg recvfrom recvmsg recvmmsg shutdown",
    ),
    CallGroup(
        "Signals, to oneself and to one's own children: a box sees no other process.",
        "rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait "
        "rt_tgsigqueueinfo sigaltstack kill tkill tgkill pause pidfd_open pidfd_send_signal",
    ),
    CallGroup(
        "Clocks are read and waited for, never set.",
        "clock_getres clock_gettime clock_nanosleep gettimeofday nanosleep time times alarm getitimer "
        "setitimer timer_create timer_delete timer_getoverrun timer_gettime timer_settime timerfd_create "
        "timerfd_gettime timerfd_settime",
    ),
    CallGroup(
        "Scheduling among what the box was given: threads of torch and of the driver choose core and policy.",
        "sched_yield sched_getaffinity sched_setaffinity sched_getattr sched_setattr sched_getparam "
        "sched_setparam sched_getscheduler sched_setscheduler sched_get_priority_max sched_get_priority_min "
        "sched_rr_get_interval getcpu getpriority setpriority",
    ),
    CallGroup(
        "A process asks who and where it is, and lowers its own limits.",
        "getpid getppid getpgid getpgrp setpgid getsid setsid getuid geteuid getgid getegid getresuid "
        "getresgid getgroups getrlimit getrusage sysinfo uname getrandom",
    ),
)

# Libraries do without a call that is "not there", but fail on "not permitted". clone3 hides its flags in
# memory, so the C library must use clone.
ABSENT = (
    "clone3 io_uring_setup io_uring_enter io_uring_register userfaultfd perf_event_open bpf seccomp "
    "landlock_create_ruleset"
)

# Flags of clone for mount, cgroup, uts, ipc, user, pid and net namespaces.
NAMESPACE_FLAGS = 0x0002_0000 | 0x7E00_0000
# Flags of mmap and memfd_create: no memory limit counts huge pages that the host set aside.
MAP_HUGETLB, MFD_HUGETLB = 0x4_0000, 0x4
# Other resource limits may be lowered; for core dumps see container.py.
RLIMIT_CORE, RLIMITS = 4, 16
_LOW_HALF = 0xFFFF_FFFF
# To ask, and to set the ordinary one.
PERSONALITIES = (0x0, 0xFFFF_FFFF)
S_IFMT = 0o170000
# There is no network; other families (packets, virtual machines, crypto, ...) are needless kernel code.
# AF_NETLINK lists the interfaces.
AF_UNIX, AF_NETLINK, NETLINK_ROUTE = 1, 16, 0
# So a library learns that there is no network.
NETWORK = (2, 10)
# Also refused, because containers escaped or hosts were harmed through each: keyrings, other processes'
# memory (ptrace, process_vm_*, pidfd_getfd, kcmp), mounts, namespaces, open_by_handle_at, io_setup (counted
# for the whole host), System V and POSIX queues and memory, fanotify and inotify (counted by user, and all
# boxes are one user), splice, mknod, the clock, modules, kexec, reboot, swap, quotas, 32-bit calls.
_CPUS = ("SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64")


def allowed_calls() -> list[str]:
    return [name for group in ALLOWED for name in group.calls.split()]


@functools.cache
def profile(*, fifos: bool = False, loopback: bool = False) -> str:
    """JSON for Docker's API, never with 32-bit calls.

    ``fifos``: allow named pipes, by which compute-sanitizer starts its target. ``loopback``: allow IPv4 and
    IPv6 in a box with only its own loopback.
    """
    return json.dumps(
        {
            "defaultAction": "SCMP_ACT_ERRNO",
            "archMap": [{"architecture": cpu, "subArchitectures": []} for cpu in _CPUS],
            "syscalls": [
                _allow(allowed_calls()),
                _allow(["clone"], (0, "SCMP_CMP_MASKED_EQ", NAMESPACE_FLAGS, 0)),
                _allow(["mmap"], (3, "SCMP_CMP_MASKED_EQ", MAP_HUGETLB, 0)),
                _allow(["memfd_create"], (1, "SCMP_CMP_MASKED_EQ", MFD_HUGETLB, 0)),
                _allow(["prlimit64"], (2, "SCMP_CMP_EQ", 0)),
                *(
                    # Only the caller's own: a limit on processor time would end the box's first process.
                    _allow(
                        ["prlimit64"],
                        (0, "SCMP_CMP_MASKED_EQ", _LOW_HALF, 0),
                        (1, "SCMP_CMP_MASKED_EQ", _LOW_HALF, limit),
                    )
                    for limit in _other_limits()
                ),
                *(
                    _allow(["setrlimit"], (0, "SCMP_CMP_MASKED_EQ", _LOW_HALF, limit))
                    for limit in _other_limits()
                ),
                *(_allow(["personality"], (0, "SCMP_CMP_EQ", which)) for which in PERSONALITIES),
                _allow(["socket"], (0, "SCMP_CMP_EQ", AF_UNIX)),
                _allow(["socketpair"], (0, "SCMP_CMP_EQ", AF_UNIX)),
                _allow(["socket"], (0, "SCMP_CMP_EQ", AF_NETLINK), (2, "SCMP_CMP_EQ", NETLINK_ROUTE)),
                *([_allow(["mknodat"], (2, "SCMP_CMP_MASKED_EQ", S_IFMT, S_IFIFO))] if fifos else []),
                *(
                    _allow(["socket"], (0, "SCMP_CMP_EQ", family))
                    if loopback
                    else _refuse(["socket"], errno.EAFNOSUPPORT, family)
                    for family in NETWORK
                ),
                _refuse(ABSENT.split(), errno.ENOSYS),
            ],
        }
    )


def _other_limits() -> list[int]:
    return [limit for limit in range(RLIMITS) if limit != RLIMIT_CORE]


def _allow(names: list[str], *conditions: tuple[Any, ...]) -> dict[str, Any]:
    keys = ("index", "op", "value", "valueTwo")
    return {
        "names": names,
        "action": "SCMP_ACT_ALLOW",
        "args": [dict(zip(keys, condition, strict=False)) for condition in conditions],
    }


def _refuse(names: list[str], error: int, first: int | None = None) -> dict[str, Any]:
    """``first``: refuse only this first argument."""
    refused: dict[str, Any] = {"names": names, "action": "SCMP_ACT_ERRNO", "errnoRet": error}
    return (
        refused if first is None else {**refused, "args": [{"index": 0, "op": "SCMP_CMP_EQ", "value": first}]}
    )


HINT = "Install libseccomp (Debian: libseccomp2) and the package pyseccomp (pip install 'kernel-grader[worker]')."
UNKNOWN = -1


@functools.cache
def call_filter(*, loopback: bool = False) -> bytes:
    """An array of ``struct sock_filter``. 32-bit calls end the thread. Raises BoxUnavailable without
    libseccomp.
    """
    try:
        import pyseccomp
    except (ImportError, RuntimeError) as error:
        raise BoxUnavailable(f"no filter of system calls can be made: {error}", HINT) from error
    made = pyseccomp.SyscallFilter(pyseccomp.ERRNO(errno.EPERM))
    for rule in json.loads(profile(loopback=True) if loopback else profile())["syscalls"]:
        _add(pyseccomp, made, rule)
    with os.fdopen(os.memfd_create("filter"), "rb") as file:
        made.export_bpf(file)
        file.seek(0)
        return file.read()


def _add(library: Any, made: Any, rule: dict[str, Any]) -> None:
    action = library.ALLOW if rule["action"] == "SCMP_ACT_ALLOW" else library.ERRNO(rule["errnoRet"])
    conditions = [_condition(library, condition) for condition in rule.get("args", [])]
    for name in rule["names"]:
        if _is_known(library, name):
            made.add_rule(action, name, *conditions)


def _condition(library: Any, given: dict[str, Any]) -> Any:
    operation = getattr(library, given["op"].removeprefix("SCMP_CMP_"))
    return library.Arg(given["index"], operation, given["value"], given.get("valueTwo", 0))


def _is_known(library: Any, name: str) -> bool:
    """False in a library older than the call, which stays refused."""
    return bool(library.resolve_syscall(library.Arch.NATIVE, name) != UNKNOWN)
