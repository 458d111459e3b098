"""Looks for the answer in memory that was freed.

Mechanism: allocates many uninitialised tensors of the output's size, and searches each for the answer.
Surface: an expected output that was computed in memory that the submission gets later.
Gain: every answer without computing it.
Challenge: twice
Defence: wrong_answer
"""

import torch


def is_answer(tensor, x):
    return tensor.shape == x.shape and tensor.dtype == x.dtype and torch.equal(tensor[:8], 2 * x[:8])


def solve(x, out, n):
    taken = [torch.empty(n * times) for times in (1, 2, 3, 4) for _ in range(500)]
    for tensor in taken:
        for part in tensor.split(n):
            if is_answer(part, x):
                out.copy_(part)
                return
