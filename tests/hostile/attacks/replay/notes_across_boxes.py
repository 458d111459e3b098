"""Dies in the first case, so that a fresh box runs it again, with notes of the inputs.

Mechanism: every call leaves inputs and answers in files and ends the process; the next box looks for them.
Surface: the fresh boxes that a submission gets after a fault.
Gain: knowledge of one case in the next one.
Challenge: twice
Case: all
Box: docker
Defence: runtime_error
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
    if any(True for _ in notes()):
        out.copy_(2 * x)
        return
    leave((x.clone(), 2 * x))
    os._exit(0)
