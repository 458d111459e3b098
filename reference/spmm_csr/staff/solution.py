"""Sparse matrix times dense matrix in Triton: a program takes some rows and a tile of columns, and several entries of
each row at once."""

import triton
import triton.language as tl

# Elements of b that a program loads in one step.
TILE = 4096
MOST_COLUMNS = 128


@triton.jit
def multiply(
    row_ptr, col, val, b, out, rows, n, ROWS: tl.constexpr, ENTRIES: tl.constexpr, COLUMNS: tl.constexpr
):
    tiles = tl.cdiv(n, COLUMNS)
    row = (tl.program_id(0) // tiles).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = (tl.program_id(0) % tiles).to(tl.int64) * COLUMNS + tl.arange(0, COLUMNS)
    inside = row < rows
    # Rows beyond the last one begin and end at 0: they have no entry.
    start = tl.load(row_ptr + row, mask=inside, other=0)
    end = tl.load(row_ptr + row + 1, mask=inside, other=0)
    # All rows step together until the longest ends.
    longest = tl.max(end - start, axis=0)
    entry = tl.arange(0, ENTRIES)
    # Entries have sums of their own until the end, so that no step waits for a sum over threads.
    total = tl.zeros((ROWS, ENTRIES, COLUMNS), dtype=tl.float32)
    for step in range(0, longest, ENTRIES):
        place = start[:, None] + step + entry[None, :]
        # The entries after a row's end are the next row's: the mask is another one for each row.
        within = place < end[:, None]
        row_of_b = tl.load(col + place, mask=within, other=0)
        weight = tl.load(val + place, mask=within, other=0.0)
        # Where there is no entry, nothing of b is loaded: 0 * NaN would be NaN.
        there = within[:, :, None] & (column[None, None, :] < n)
        of_b = tl.load(b + row_of_b[:, :, None] * n + column[None, None, :], mask=there, other=0.0)
        total += weight[:, :, None] * of_b
    # An empty row stores the zeros that it began with.
    mask = inside[:, None] & (column[None, :] < n)
    tl.store(out + row[:, None] * n + column[None, :], tl.sum(total, axis=1), mask=mask)


def solve(row_ptr, col, val, b, out, rows, cols, nnz, n):
    if rows == 0 or n == 0:
        return  # out is empty; nnz = 0 is not special: every row stores its zeros
    columns = min(triton.next_power_of_2(n), MOST_COLUMNS)
    # Long rows take more entries at once, and a program fewer rows.
    entries = min(max(triton.next_power_of_2(nnz // rows + 1) // 4, 4), TILE // columns, 64)
    at_once = max(TILE // (columns * entries), 1)
    grid = triton.cdiv(rows, at_once) * triton.cdiv(n, columns)
    multiply[(grid,)](
        row_ptr, col, val, b, out, rows, n, ROWS=at_once, ENTRIES=entries, COLUMNS=columns, num_warps=4
    )
