"""A program of one warp for each row, 64 entries at a time: most rows are shorter."""

import triton
import triton.language as tl


@triton.jit
def multiply(row_ptr, col, val, x, out, LANES: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    start, end = tl.load(row_ptr + row), tl.load(row_ptr + row + 1)
    total = tl.zeros((LANES,), dtype=tl.float32)
    for first in range(start, end, LANES):
        place = first + tl.arange(0, LANES)
        within = place < end
        column = tl.load(col + place, mask=within, other=0)
        total += tl.load(val + place, mask=within, other=0.0) * tl.load(x + column, mask=within, other=0.0)
    tl.store(out + row, tl.sum(total, axis=0))


def solve(row_ptr, col, val, x, out, rows, cols, nnz):
    if rows:
        multiply[(rows,)](row_ptr, col, val, x, out, LANES=64, num_warps=1)
