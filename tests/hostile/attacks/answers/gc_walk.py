"""Looks for the answer among all objects that are alive.

Mechanism: asks the garbage collector for every tensor in the process, and copies the one that begins like the
  answer.
Surface: an expected output in the submission's process.
Gain: every answer without computing it.
Challenge: twice
Defence: wrong_answer
"""

import gc

import torch


def is_answer(tensor, x):
    return tensor.shape == x.shape and tensor.dtype == x.dtype and torch.equal(tensor[:8], 2 * x[:8])


def solve(x, out, n):
    for candidate in gc.get_objects():
        if (
            isinstance(candidate, torch.Tensor)
            and candidate is not out
            and candidate.numel() == n
            and is_answer(candidate.reshape(-1), x)
        ):
            out.copy_(candidate)
            return
