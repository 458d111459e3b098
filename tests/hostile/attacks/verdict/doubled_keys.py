"""Sends a message with doubled keys.

Mechanism: a "returned" with every key twice: a checker may read the first value, and the judge the last.
Surface: the connection from box to judge.
Gain: accepted, whatever it computes.
Challenge: twice
Defence: wrong_answer, runtime_error
"""

import gc
import struct
import time

runner = next(candidate for candidate in gc.get_objects() if type(candidate).__name__ == "Runner")


def say(body):
    runner.connection.sendall(struct.pack("<I", len(body)) + body)


def current():
    """The round that is under way."""
    return runner.binding._flags._words[0]


def solve(x, out, n):
    number = current()
    runner.binding._flags.set_done(number)
    say(
        f'{{"op": "hello", "round": 0, "op": "returned", "round": {number}, "error": null, "error": null}}'.encode()
    )
    time.sleep(1)
