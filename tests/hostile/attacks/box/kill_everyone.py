"""Kills and stops every process that it can reach.

Mechanism: SIGKILL and SIGSTOP to its parent, to its group, to every process there is, and to the process that
  gave it its connection (the kernel gives the number).
Surface: a judge that shares a user or process namespace with the submission.
Gain: a dead judge takes the verdict with it: the submission is judged again, or counts as the platform's failure.
Challenge: twice
Defence: runtime_error
Box: docker
"""

import os
import signal
import socket
import struct

won, refused = [], []


def attempt(name, action):
    try:
        found = action()
    except Exception as error:
        refused.append(f"{name}: {error}")
    else:
        (won if found else refused).append(name)


def judge_number():
    import gc

    for candidate in gc.get_objects():
        if isinstance(candidate, socket.socket) and candidate.family == socket.AF_UNIX:
            size = struct.calcsize("3i")
            return struct.unpack("3i", candidate.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))[0]
    return 0


def hit(name, number, what):
    def action():
        os.kill(number, what)
        return number > 1

    attempt(f"{name} ({number})", action)


for what in (signal.SIGSTOP, signal.SIGKILL):
    if os.getppid() > 0:
        hit("the parent", os.getppid(), what)
    if judge_number() > 1:
        hit("the judge", judge_number(), what)
    # Only in the first process of a namespace does this name nobody else.
    if os.getpid() == 1:
        for number in range(2, 4096):
            hit("somebody", number, what)
        refused = [line for line in refused if "No such process" not in line] or ["nobody is there"]


def solve(x, out, n):
    if not won:
        raise PermissionError("; ".join(refused))
    print("won:", won)
    out.copy_(2 * x)
