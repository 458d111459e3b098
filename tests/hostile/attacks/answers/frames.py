"""Looks for the answer in the variables of its callers.

Mechanism: walks up the frames of all threads and looks through their variables, two levels deep, for the answer
  or a function that gives it.
Surface: a grader that calls the submission directly.
Gain: every answer without computing it.
Challenge: twice
Like: gc_walk
Defence: wrong_answer
"""

import sys

import torch


def is_answer(tensor, x):
    return tensor.shape == x.shape and tensor.dtype == x.dtype and torch.equal(tensor[:8], 2 * x[:8])


def within(value, depth):
    yield value
    if depth and isinstance(value, dict):
        value = list(value.values())
    if depth and isinstance(value, (list, tuple)):
        for part in value:
            yield from within(part, depth - 1)
    if depth and hasattr(value, "__dict__"):
        yield from within(dict(vars(value)), depth - 1)


def solve(x, out, n):
    for frame in sys._current_frames().values():
        while frame is not None:
            for name, value in {**frame.f_globals, **frame.f_locals}.items():
                if frame.f_code is solve.__code__:
                    continue
                for part in within(value, 2):
                    if isinstance(part, torch.Tensor) and is_answer(part, x):
                        out.copy_(part)
                        return
                if callable(value) and name in ("reference", "oracle", "expected"):
                    out.copy_(value(x, n))
                    return
            frame = frame.f_back
