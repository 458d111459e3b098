"""Attaches to the judge as a debugger does.

Mechanism: asks ptrace for every process number up to a thousand, and for its parent; whoever is attached to
  stops, and its memory and registers are the submission's.
Surface: a judge that runs as the same user in the same process namespace.
Gain: the verdict itself.
Challenge: twice
Like: judge_memory
Box: docker
Defence: wrong_answer
"""

import ctypes
import os

ATTACH, SEIZE, DETACH = 16, 0x4206, 17
libc = ctypes.CDLL(None, use_errno=True)


def solve(x, out, n):
    for pid in {os.getppid(), *range(1, 1000)} - {os.getpid()}:
        for request in (SEIZE, ATTACH):
            if libc.ptrace(request, pid, None, None) == 0:
                libc.ptrace(DETACH, pid, None, None)
                out.copy_(2 * x)
                return
