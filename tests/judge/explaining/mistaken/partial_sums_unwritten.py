import torch
import triton
import triton.language as tl


@triton.jit
def partial(x, sums, n, BLOCK: tl.constexpr):
    block = tl.program_id(0)
    i = block * BLOCK + tl.arange(0, BLOCK)
    total = tl.sum(tl.load(x + i, mask=i < n, other=0.0))
    tl.store(sums + block, total, mask=block < n // BLOCK)


@triton.jit
def last(sums, out, blocks, MOST: tl.constexpr):
    i = tl.arange(0, MOST)
    tl.store(out, tl.sum(tl.load(sums + i, mask=i < blocks, other=0.0)))


def solve(x, out, n):
    out.zero_()
    blocks = triton.cdiv(n, 256)
    sums = torch.empty(blocks)
    if n:
        partial[(blocks,)](x, sums, n, BLOCK=256)
        last[(1,)](sums, out, blocks, MOST=triton.next_power_of_2(blocks))
