"""Never returns and ignores every signal that can be ignored.

Mechanism: blocks all signals, closes its output and the reading side of its connection, and spins in native
  code that holds the interpreter's lock, so that not even its own runner can end it.
Surface: a judge that waits for an answer, or asks politely for an end.
Gain: a worker that serves nobody.
Challenge: twice
Defence: time_limit
"""

import os
import re
import signal


def solve(x, out, n):
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    os.close(1)
    os.close(2)
    re.match("(a*)*b", "a" * 64)
    out.copy_(2 * x)
