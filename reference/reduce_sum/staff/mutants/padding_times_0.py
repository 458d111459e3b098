"""Mistake: lanes beyond the end hold the last element times 0, which is NaN where that is infinite."""

import triton
import triton.language as tl

BLOCK = 4096
# Values summed by one program before it adds to out: few additions to one place in memory, enough programs.
BLOCKS_PER_PROGRAM = 8


@triton.jit
def clear(out):
    tl.store(out, 0.0)


@triton.jit
def add_up(x, out, n, BLOCK: tl.constexpr, BLOCKS: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * (BLOCK * BLOCKS)  # 64 bits: n may exceed 2^31
    lanes = tl.zeros((BLOCK,), dtype=tl.float32)
    for block in range(BLOCKS):
        offsets = first + block * BLOCK + tl.arange(0, BLOCK)
        # What lies beyond the end counts as 0. Each lane has a sum of its own: the lanes meet only once, below.
        lanes += tl.load(x + tl.where(offsets < n, offsets, n - 1)) * (offsets < n).to(tl.float32)
    # Many programs add to the same number: only an atomic addition loses none.
    tl.atomic_add(out, tl.sum(lanes, axis=0), sem="relaxed")


def solve(x, out, n):
    # A launch of its own: within one kernel, a program may add before another clears.
    clear[(1,)](out)
    if n == 0:
        return  # the sum of nothing is 0
    add_up[(triton.cdiv(n, BLOCK * BLOCKS_PER_PROGRAM),)](
        x, out, n, BLOCK=BLOCK, BLOCKS=BLOCKS_PER_PROGRAM, num_warps=8
    )
