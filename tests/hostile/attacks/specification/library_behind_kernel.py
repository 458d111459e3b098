"""Calls the library behind a kernel that does nothing.

Mechanism: launches a custom kernel on a scratch tensor, to have one, and lets torch compute the answer.
Surface: the rule that a submission computes by its own kernels.
Gain: the library's speed, under the name of an own kernel.
Challenge: twice
Timed: yes
On: cpu, gpu
Defence: library_kernel
Emulated: host_computed
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
def nothing(scratch, block: tl.constexpr):
    tl.store(scratch + tl.arange(0, block), tl.zeros((block,), tl.float32))


def solve(x, out, n):
    if n:
        nothing[(1,)](torch.empty(16, device=x.device), block=16)
    torch.mul(x, 2, out=out)
