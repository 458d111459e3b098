"""Mistake: has no mask: the last block goes beyond the arrays."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(own, other, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    ours = tl.load(own + offsets)
    theirs = tl.load(other + offsets)
    tl.store(out + offsets, ours + theirs)


def solve(x, out, n, gpus):
    if n == 0:
        return
    for gpu in range(gpus):
        with torch.cuda.device(gpu):
            add_kernel[(triton.cdiv(n, 1024),)](x[gpu], x[1 - gpu], out[gpu], n, BLOCK=1024)
