"""Mistake: each GPU adds its own numbers to themselves."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(own, other, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    ours = tl.load(own + offsets, mask=inside)
    theirs = tl.load(other + offsets, mask=inside)
    tl.store(out + offsets, ours + theirs, mask=inside)


def solve(x, out, n, gpus):
    if n == 0:
        return
    for gpu in range(gpus):
        with torch.cuda.device(gpu):
            add_kernel[(triton.cdiv(n, 1024),)](x[gpu], x[gpu], out[gpu], n, BLOCK=1024)
