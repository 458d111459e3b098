"""Computes through temporary buffers.

Looks: like a library call: allocates, clones nothing, and frees within the call.
Challenge: twice
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
    first, second = torch.empty_like(x), torch.empty_like(x)
    if n:
        grid = (triton.cdiv(n, 1024),)
        halved[grid](x, first, n, block=1024)
        twice[grid](first, second, n, block=1024)
        twice[grid](second, out, n, block=1024)


@triton.jit
def halved(x, out, n, block: tl.constexpr):
    offsets = tl.program_id(0) * block + tl.arange(0, block)
    mask = offsets < n
    tl.store(out + offsets, 0.5 * tl.load(x + offsets, mask=mask), mask=mask)
