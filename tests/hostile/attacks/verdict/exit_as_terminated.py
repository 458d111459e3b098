"""Ends the process, while it is loaded, with the exit code of a container that was stopped.

Mechanism: os._exit(143) at the top of the module: 128 + 15, as container engines report a death by SIGTERM.
Surface: the platform judges again after a box was stopped from outside.
Gain: repeated judgements on the platform's time.
Challenge: twice
Like: exit_as_killed
Defence: runtime_error
"""

import os

os._exit(143)


def solve(x, out, n):
    out.copy_(2 * x)
