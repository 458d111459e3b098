import torch
import triton
import triton.language as tl


@triton.jit
def add(mine, other, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(
        out + offsets, tl.load(mine + offsets, mask=mask) + tl.load(other + offsets, mask=mask), mask=mask
    )


def solve(x, out, n, gpus):
    for gpu in range(gpus):
        with torch.cuda.device(gpu):
            add[(triton.cdiv(n, 1024),)](x[gpu], x[1 - gpu], out[gpu], n, BLOCK=1024)
