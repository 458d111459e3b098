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

runner = next(it for it in gc.get_objects() if type(it).__name__ == "Runner")


def solve(x, out, n):
    runner.connection.sendall(struct.pack("<I", 100) + b"\xff" * 100)
