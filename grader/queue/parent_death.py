"""``python parent_death.py PARENT_PID PROGRAM [ARGUMENT...]``: a program that ends when its parent does
(Linux).

A script, since doing this between fork and exec is unsafe in a process with threads.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main() -> None:
    parent, program = int(sys.argv[1]), sys.argv[2:]
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:  # it died before the request took effect
        sys.exit(1)
    os.execv(program[0], program)  # noqa: S606 - no shell is the point


if __name__ == "__main__":
    main()
