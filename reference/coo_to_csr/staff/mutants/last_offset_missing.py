"""Mistake: writes an offset for each row and forgets the last one, which is nnz."""

import triton
import triton.language as tl

BLOCK = 256


@triton.jit
def search(row, row_ptr, rows, nnz, steps, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    low = tl.zeros((BLOCK,), dtype=tl.int64)
    high = tl.zeros((BLOCK,), dtype=tl.int64) + nnz
    for _ in range(steps):
        middle = (low + high) // 2
        open = low < high
        less = tl.load(row + middle, mask=open, other=0) < r
        low = tl.where(open & less, middle + 1, low)
        high = tl.where(open & (less == 0), middle, high)
    tl.store(row_ptr + r, low.to(tl.int32), mask=r < rows)


def solve(row, row_ptr, rows, nnz):
    steps = nnz.bit_length()
    search[(rows // BLOCK + 1,)](row, row_ptr, rows, nnz, steps, BLOCK=BLOCK)
