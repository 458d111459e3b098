"""Ends the process with exit code 0 when it is over.

Mechanism: registers handlers that end the process with code 0 at exit, on signals and on unhandled exceptions;
  then raises.
Surface: graders that take an exit code for a verdict.
Gain: accepted, whatever it computes.
Challenge: twice
Defence: runtime_error
"""

import atexit
import os
import signal
import sys


def leave(*_):
    os.write(1, b"accepted\n")
    os._exit(0)


atexit.register(leave)
sys.excepthook = leave
for number in (signal.SIGTERM, signal.SIGSEGV, signal.SIGABRT):
    signal.signal(number, leave)


def solve(x, out, n):
    raise SystemExit(0)
