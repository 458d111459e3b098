"""Crashes with its memory full.

Mechanism: raises the limit on core files, makes itself dumpable, and lets a child crash with half a gigabyte in use.
Surface: the place of core files, or the program that the host's kernel gives them to.
Gain: the host's disk, file by file; a host program that reads a stranger's data.
Challenge: twice
Like: memory_in_pieces
Defence: runtime_error
"""

import contextlib
import ctypes
import os
import resource
import signal

PR_SET_DUMPABLE = 4
HERE = os.environ.get("TMPDIR", "/tmp")


def solve(x, out, n):
    os.chdir(HERE)
    for limit in ((resource.RLIM_INFINITY,) * 2, (1 << 30, resource.getrlimit(resource.RLIMIT_CORE)[1])):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_CORE, limit)
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
    before = set(os.listdir(HERE))
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGSEGV, signal.SIG_DFL)
        ctypes.string_at(8)
    _, status = os.waitpid(child, 0)
    left = [name for name in os.listdir(HERE) if name not in before and "core" in name]
    if not left and not os.WCOREDUMP(status):
        raise RuntimeError(f"no core; ended by signal {os.WTERMSIG(status)}")
    print("won:", left)
    out.copy_(2 * x)
