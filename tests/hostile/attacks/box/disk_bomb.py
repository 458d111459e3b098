"""Fills the box's only folder.

Mechanism: writes files of /tmp until something refuses.
Surface: the host's disk, or its memory behind a tmpfs.
Gain: a database that cannot write; reaching 2 GiB shows that there is no bound.
Challenge: twice
Defence: runtime_error, memory_limit
Box: docker
"""

import signal

WANTED, PIECE = 2 << 30, 1 << 24
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
written, why = 0, "nothing refused"
try:
    while written < WANTED:
        with open(f"/tmp/hostile-{written >> 28}", "ab") as file:
            written += file.write(b"x" * PIECE)
except OSError as error:
    why = str(error)


def solve(x, out, n):
    if written < WANTED:
        raise OSError(f"{written >> 20} MiB, then: {why}")
    out.copy_(2 * x)
