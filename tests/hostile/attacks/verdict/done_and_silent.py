"""Says done and then nothing.

Mechanism: sets the gate's done word from within solve, and never returns.
Surface: the time between the end of a call and the runner's answer.
Gain: a judge that waits for ever, or takes silence for success.
Challenge: twice
Defence: time_limit
Limits: IDLE_PATIENCE 1, IDLE_SHARE 0.5
"""

import gc
import time

runner = next(candidate for candidate in gc.get_objects() if type(candidate).__name__ == "Runner")


def solve(x, out, n):
    out.copy_(2 * x)
    flags = runner.binding._flags
    flags.set_done(flags._words[0])
    time.sleep(60)
