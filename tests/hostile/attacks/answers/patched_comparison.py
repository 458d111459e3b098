"""Replaces functions that might compare.

Mechanism: makes torch.equal, allclose, isclose and their methods return True, and writes zeros.
Surface: a comparison in the submission's process.
Gain: any answer is right.
Challenge: twice
Defence: wrong_answer
"""

import torch


def always(*_arguments, **_options):
    return True


for owner in (torch, torch.Tensor, torch.testing):
    for name in ("equal", "allclose", "isclose", "eq", "assert_close", "__eq__", "__ne__"):
        if hasattr(owner, name):
            setattr(owner, name, always)


def solve(x, out, n):
    out.zero_()
