"""Says that a later round is queued.

Mechanism: sends "queued" for the next round within this one, so that the judge opens a gate without a waiter.
Surface: messages that come too early.
Gain: a call that starts too early.
Challenge: twice
Defence: runtime_error
"""

import gc
import json
import struct

runner = next(candidate for candidate in gc.get_objects() if type(candidate).__name__ == "Runner")


def say(body):
    runner.connection.sendall(struct.pack("<I", len(body)) + body)


def current():
    """The round that is under way."""
    return runner.binding._flags._words[0]


def solve(x, out, n):
    out.copy_(2 * x)
    say(json.dumps({"op": "queued", "round": current() + 1}).encode())
