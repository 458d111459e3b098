"""Attaches to the judge as a debugger does.

Mechanism: attaches by ptrace to its parent and to every process number up to a thousand: that stops the
  process, and gives the submission its memory and registers.
Surface: a judge of the same user and process namespace.
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
