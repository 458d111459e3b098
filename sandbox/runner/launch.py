"""Becomes a local box's program, after settings that a process makes only for itself.

python -I -S launch.py PARENT_PID DATA_BYTES FILE_BYTES NICE CORES PROGRAM ADDRESS...

CORES: for example "2,3"; empty: any. A separate program, because code between fork and exec can deadlock in a
parent with threads.
"""

import contextlib
import ctypes
import os
import resource
import signal
import sys

PR_SET_PDEATHSIG = 1
PR_SET_NO_NEW_PRIVS = 38
OPEN_FILES = 1024


def lower(which: int, value: int) -> None:
    """Soft and hard; a lower hard limit stays."""
    _, hard = resource.getrlimit(which)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(which, (value, value))


def main() -> None:
    parent, data_bytes, file_bytes = (int(word) for word in sys.argv[1:4])
    nice, cores = int(sys.argv[4]), [int(word) for word in sys.argv[5].split(",") if word]
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if os.getppid() != parent:  # it died before PR_SET_PDEATHSIG took effect
        os._exit(1)
    with contextlib.suppress(ValueError):  # a box keeps its limit: see seccomp.py
        lower(resource.RLIMIT_CORE, 0)
    lower(resource.RLIMIT_DATA, data_bytes)
    lower(resource.RLIMIT_FSIZE, file_bytes)
    lower(resource.RLIMIT_NOFILE, OPEN_FILES)
    os.nice(max(0, nice - os.nice(0)))
    if cores:
        with contextlib.suppress(OSError):  # a core was taken away: any will do
            os.sched_setaffinity(0, cores)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")  # the kernel kills boxes first
    os.execv(sys.executable, [sys.executable, "-I", *sys.argv[6:]])  # noqa: S606 - no shell is wanted


main()
