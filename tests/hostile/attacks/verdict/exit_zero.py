"""Prints success and ends the process with exit code 0.

Mechanism: prints a verdict, flushes it and calls os._exit(0) from solve.
Surface: graders that take an exit code for a verdict.
Gain: accepted, whatever it computes.
Challenge: twice
Like: exit_in_handlers
Defence: runtime_error
"""

import os


def solve(x, out, n):
    os.write(1, b'{"verdict": "accepted"}\n')
    os._exit(0)
