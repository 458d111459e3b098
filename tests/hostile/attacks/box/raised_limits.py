"""Raises its limits and priority.

Mechanism: raises its limits and its priority, asks for real-time scheduling and idle disks, locks its memory, and asks
  the kernel to kill others first when memory is short.
Surface: limits that a process may raise, and the kernel's files for its own process.
Gain: the host's processor and memory at others' cost; its neighbours die first.
Challenge: twice
Defence: runtime_error
Box: docker
"""

import ctypes
import os
import resource

won, refused = [], []


def attempt(name, action):
    try:
        found = action()
    except Exception as error:
        refused.append(f"{name}: {error}")
    else:
        (won if found else refused).append(name)


libc = ctypes.CDLL(None, use_errno=True)
LIMITS = [name for name in dir(resource) if name.startswith("RLIMIT_")]
IOPRIO_SET, REAL_TIME = 251, 1 << 13


def raise_limit(kind):
    def action():
        _, hard = resource.getrlimit(kind)
        if hard == resource.RLIM_INFINITY:
            return False
        resource.setrlimit(kind, (hard + 1, hard + 1))
        return True

    return action


def kill_others_first():
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("-1000")
    return True


for name in LIMITS:
    attempt(name, raise_limit(getattr(resource, name)))
attempt("priority", lambda: os.setpriority(os.PRIO_PROCESS, 0, -20) is None)
attempt("nice", lambda: os.nice(-5) < 0)
for name, policy in (("FIFO", os.SCHED_FIFO), ("RR", os.SCHED_RR)):
    attempt(name, lambda policy=policy: os.sched_setscheduler(0, policy, os.sched_param(1)) is None)
attempt("disk", lambda: libc.syscall(IOPRIO_SET, 1, 0, REAL_TIME) == 0)
attempt("memory", kill_others_first)


def solve(x, out, n):
    if not won:
        raise PermissionError("; ".join(refused))
    print("won:", won)
    out.copy_(2 * x)
