"""Sends itself the signal by which service managers end processes.

Mechanism: SIGTERM to itself, in its first call.
Surface: the platform judges again after a box was stopped from outside.
Gain: repeated judgements on the platform's time.
Challenge: twice
Like: kills_itself
Defence: runtime_error
"""

import os
import signal


def solve(x, out, n):
    os.kill(os.getpid(), signal.SIGTERM)
