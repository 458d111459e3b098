"""Keeps a table on the device.

Looks: like stored answers: a module-level tensor, made in the first call and read in all later ones.
Challenge: twice
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


@triton.jit
def scaled(x, table, out, n, block: tl.constexpr):
    offsets = tl.program_id(0) * block + tl.arange(0, block)
    mask = offsets < n
    factor = tl.load(table + offsets % 16, mask=mask)
    tl.store(out + offsets, factor * tl.load(x + offsets, mask=mask), mask=mask)


table = None


def solve(x, out, n):
    global table
    if table is None:
        table = torch.tensor([2.0] * 16, device=x.device)
    if n:
        scaled[(triton.cdiv(n, 1024),)](x, table, out, n, block=1024)
