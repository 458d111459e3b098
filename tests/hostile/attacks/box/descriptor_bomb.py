"""Opens descriptors without end.

Mechanism: duplicates, pipes, sockets and event descriptors, in this process and in children.
Surface: the host's table of open files, which every process shares.
Gain: a host on which nobody can open a file; reaching 100,000 shows that there is no bound.
Challenge: twice
Defence: runtime_error
"""

import os
import resource

WANTED = 100_000
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
held, why = [], "nothing refused"
try:
    while len(held) < WANTED:
        held += os.pipe()
        held.append(os.eventfd(0))
except OSError as error:
    why = str(error)
opened = len(held)
for number in held:
    os.close(number)


def solve(x, out, n):
    if opened < WANTED:
        raise OSError(f"{opened} opened, then: {why}")
    out.copy_(2 * x)
