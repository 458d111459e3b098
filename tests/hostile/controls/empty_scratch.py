"""Writes over uninitialised memory.

Looks: as if it looked for old answers: torch.empty of many sizes, one far too large.
Challenge: twice
Like: temporary_buffers
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
    scratch = torch.empty(4 * n + 1024, device=x.device)
    parts = [torch.empty(size, device=x.device) for size in (0, 1, n, 2 * n)]
    if n:
        twice[(triton.cdiv(n, 1024),)](x, scratch[7:], n, block=1024)
        copied[(triton.cdiv(n, 1024),)](scratch[7:], out, n, block=1024)
    del parts


@triton.jit
def copied(x, out, n, block: tl.constexpr):
    offsets = tl.program_id(0) * block + tl.arange(0, block)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask), mask=mask)
