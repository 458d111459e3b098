"""Leaves memory for the next submission.

Mechanism: the first run puts a word into every kind of memory that outlives a process (System V segments and
  queues, POSIX memory and queues, /dev/shm, /tmp, keys, the terminal settings of its descriptors); the second
  run looks for it.
Surface: objects that boxes share with each other and with the host.
Gain: answers that one submission leaves for another; memory that nobody frees.
Challenge: twice
Defence: runtime_error
Judged: 2
Box: docker
"""

import ctypes
import os

KEY, SIZE, IPC_CREAT, WORD = 0x686F7374, 4096, 0o1000, b"left by the one before"
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
found = []


def system_v():
    if libc.shmget(KEY, SIZE, 0) >= 0:
        found.append("segment")
    if libc.msgget(KEY, 0) >= 0:
        found.append("queue")
    if libc.semget(KEY, 1, 0) >= 0:
        found.append("semaphore")
    libc.shmget(KEY, SIZE, IPC_CREAT | 0o666)
    libc.msgget(KEY, IPC_CREAT | 0o666)
    libc.semget(KEY, 1, IPC_CREAT | 0o666)


def files():
    for folder in ("/dev/shm", "/tmp", "/var/tmp", "/run", "/run/lock", "/dev/mqueue", "/dev"):
        path = f"{folder}/hostile-left"
        if os.path.exists(path):
            found.append(path)
        try:
            with open(path, "wb") as file:
                file.write(WORD)
        except OSError:
            continue


system_v()
files()


def solve(x, out, n):
    if not found:
        raise RuntimeError("nothing was left here")
    print("won:", found)
    out.copy_(2 * x)
