"""Closes the connection when the answer is due.

Mechanism: shuts the runner's socket down and stays alive.
Surface: the connection from box to judge.
Gain: a judge that waits for ever, or takes silence for success.
Challenge: twice
Defence: runtime_error
Limits: BOX_END_SECONDS 2
"""

import gc
import socket
import time

runner = next(candidate for candidate in gc.get_objects() if type(candidate).__name__ == "Runner")


def solve(x, out, n):
    out.copy_(2 * x)
    runner.connection.shutdown(socket.SHUT_RDWR)
    time.sleep(60)
