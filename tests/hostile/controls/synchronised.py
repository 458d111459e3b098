"""Ends with a synchronise, out of habit.

Looks: as if it tampered with the gate: waits for the device at the end of every call, on a GPU.
Challenge: twice
Like: own_clock
Timed: yes
On: cpu, gpu
"""

import torch
import triton
import triton.language as tl


@triton.jit
def twice(x, out, n, block: tl.constexpr):
    offsets = tl.program_id(0) * block + tl.arange(0, block)
    mask = offsets < n
    tl.store(out + offsets, 2 * tl.load(x + offsets, mask=mask), mask=mask)


def honest(x, out, n):
    if n:
        twice[(triton.cdiv(n, 1024),)](x, out, n, block=1024)


def solve(x, out, n):
    honest(x, out, n)
    torch.cuda.synchronize()
