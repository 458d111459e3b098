"""Starts threads without end.

Mechanism: threads count as processes where the kernel counts, but need no fork; each sleeps for ever.
Surface: the host's table of processes.
Gain: as with a fork bomb; 20,000 threads would be enough to show that nothing bounds them.
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
