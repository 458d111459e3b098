"""Sends bytes that are no text.

Mechanism: a message of bytes that no UTF-8 text holds.
Surface: the way on which verdicts leave the box.
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
