"""Leaves the answers for the next submission.

Mechanism: writes inputs and answers into every writable folder; a second submission with the same inputs looks
  there and computes nothing.
Surface: a file system that outlives a submission.
Gain: all answers, from a submission that nobody reads.
Challenge: twice
Judged: 2
Box: docker
Defence: wrong_answer
"""

import contextlib
import os
import pathlib

import torch

PLACES = [
    "/tmp",
    "/var/tmp",
    "/dev/shm",
    "/sock",
    "/runner",
    "/run/lock",
    ".",
    os.environ.get("TMPDIR", "/tmp"),
]


def notes():
    for place in PLACES:
        with contextlib.suppress(OSError):
            for path in pathlib.Path(place).glob("hostile-*"):
                yield torch.load(path)


def leave(values):
    for place in PLACES:
        with contextlib.suppress(OSError, RuntimeError):
            torch.save(values, f"{place}/hostile-note")


def solve(x, out, n):
    for known, answer in notes():
        if torch.equal(known, x):
            out.copy_(answer)
    leave((x.clone(), 2 * x))
