"""Sends bytes that are not text.

Mechanism: a message of invalid UTF-8.
Surface: the connection from box to judge.
Gain: a judge that crashes.
Challenge: twice
Like: odd_numbers
Defence: runtime_error
"""

import gc
import struct

runner = next(candidate for candidate in gc.get_objects() if type(candidate).__name__ == "Runner")


def solve(x, out, n):
    runner.connection.sendall(struct.pack("<I", 100) + b"\xff" * 100)
