"""Sends itself the signal that service managers end processes with.

Mechanism: SIGTERM to itself, in its first call.
Surface: what the platform forgives: a box that was stopped from outside is judged again.
Gain: judged anew, as often as that is forgiven, on the platform's time.
Challenge: twice
Like: kills_itself
Defence: runtime_error
"""

import os
import signal


def solve(x, out, n):
    os.kill(os.getpid(), signal.SIGTERM)
