"""Sparse matrix times vector in Triton: a program takes some rows at once, several lanes work on each of them."""

import triton
import triton.language as tl

# Entries that a program looks at in one step, over all of its rows.
TILE = 1024
# About as many lanes as a row has entries on average keep most of them busy; 128 are enough for long rows.
MOST_LANES = 128


@triton.jit
def row_sums(row_ptr, col, val, x, out, rows, ROWS: tl.constexpr, LANES: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    inside = row < rows
    # Rows beyond the last one begin and end at 0: they have no entry.
    start = tl.load(row_ptr + row, mask=inside, other=0)
    end = tl.load(row_ptr + row + 1, mask=inside, other=0)
    # All rows step together, as long as the longest of them needs.
    longest = tl.max(end - start, axis=0)
    lane = tl.arange(0, LANES)
    total = tl.zeros((ROWS, LANES), dtype=tl.float32)
    for step in range(0, longest, LANES):
        place = start[:, None] + step + lane[None, :]
        # Beyond its end lies the next row: masked for each row by itself.
        within = place < end[:, None]
        column = tl.load(col + place, mask=within, other=0)
        weight = tl.load(val + place, mask=within, other=0.0)
        total += weight * tl.load(x + column, mask=within, other=0.0)
    # An empty row stores the 0 that it began with.
    tl.store(out + row, tl.sum(total, axis=1), mask=inside)


def solve(row_ptr, col, val, x, out, rows, cols, nnz):
    if rows == 0:
        return  # out is empty; nnz = 0 is not special: every row stores its 0
    lanes = min(max(triton.next_power_of_2(nnz // rows + 1) // 2, 4), MOST_LANES)
    at_once = TILE // lanes
    row_sums[(triton.cdiv(rows, at_once),)](
        row_ptr, col, val, x, out, rows, ROWS=at_once, LANES=lanes, num_warps=4
    )
