"""Sends invalid numbers.

Mechanism: "returned" whose round is NaN, infinite, negative, or a number of ten thousand digits.
Surface: the connection from box to judge.
Gain: a comparison that NaN passes.
Challenge: twice
Defence: runtime_error
"""

import gc
import struct

runner = next(candidate for candidate in gc.get_objects() if type(candidate).__name__ == "Runner")


def say(body):
    runner.connection.sendall(struct.pack("<I", len(body)) + body)


def current():
    """The round that is under way."""
    return runner.binding._flags._words[0]


def solve(x, out, n):
    for number in ("NaN", "Infinity", "-1", "1e999", "9" * 10_000, f"{current()}.0", "true"):
        say(f'{{"op": "returned", "round": {number}, "error": null, "empty_launches": []}}'.encode())
