"""Leaves processes that outlive it.

Mechanism: forks twice, each time into a new session, closes all inherited descriptors, ignores signals, and
  goes on while the submission ends; one of the children holds the connection open.
Surface: a host that ends a group or a session of processes, not a box.
Gain: a process that lives while the next submission is judged, and can slow it, watch it, or answer for it.
Challenge: twice
Defence: runtime_error
Box: docker
"""

import os
import signal
import time


def linger(close):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
                signal.signal(number, signal.SIG_IGN)
            if close:
                os.closerange(0, 1024)
            time.sleep(600)
        os._exit(0)
    os.wait()


def solve(x, out, n):
    for close in (True, False, True):
        linger(close)
    os._exit(0)
