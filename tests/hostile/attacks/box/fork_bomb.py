"""Forks without end.

Mechanism: every process forks for ever, as soon as the source is loaded.
Surface: the host's table of processes, and its scheduler.
Gain: a host that can start no process; other submissions fail.
Challenge: twice
Defence: runtime_error, time_limit
Box: docker
"""

import os


def solve(x, out, n):
    while True:
        os.fork()
