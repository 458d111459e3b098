"""All-reduce on two GPUs in Triton: each reads the other's numbers over the link and writes its own sums."""

import torch
import triton
import triton.language as tl

# 16 elements a thread: four loads of 16 bytes of each array.
BLOCK = 2048


@triton.jit
def add_kernel(own, other, out, n, BLOCK: tl.constexpr):
    # 64 bits before the multiplication: a 32-bit index wraps round from 2^31 elements on.
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    # The last block reaches beyond the arrays unless n is a multiple of BLOCK.
    inside = offsets < n
    theirs = tl.load(other + offsets, mask=inside)
    ours = tl.load(own + offsets, mask=inside)
    tl.store(out + offsets, ours + theirs, mask=inside)


def solve(x, out, n, gpus):
    if n == 0:
        return  # there is nothing to launch
    for gpu in range(gpus):
        with torch.cuda.device(gpu):
            add_kernel[(triton.cdiv(n, BLOCK),)](x[gpu], x[1 - gpu], out[gpu], n, BLOCK=BLOCK)
