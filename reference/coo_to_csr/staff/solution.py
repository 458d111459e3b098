"""Row offsets in Triton by a search for boundaries: entry i in row b, after one in row a, settles the rows a + 1 to b.

Two entries that do not exist cover both ends: one ahead of the first in row -1, and number nnz in row `rows`.
"""

import triton
import triton.language as tl

BLOCK = 2048
# Up to this many offsets of an entry are written along with those of the others; the rest of a longer run follows.
SHORT = 8


@triton.jit
def offsets_of(row, row_ptr, rows, nnz, BLOCK: tl.constexpr, SHORT: tl.constexpr):
    # 64 bits: the last block may reach beyond 2^31.
    entry = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    here = tl.load(row + entry, mask=entry < nnz, other=0)
    before = tl.load(row + entry - 1, mask=(entry > 0) & (entry <= nnz), other=-1)
    here = tl.where(entry == nnz, rows, here).to(tl.int64)
    count = tl.where(entry <= nnz, here - before, 0)
    for k in range(0, tl.minimum(tl.max(count, axis=0), SHORT)):
        tl.store(row_ptr + here - k, entry.to(tl.int32), mask=k < count)

    longer = (count > SHORT).to(tl.int32)
    runs = tl.sum(longer, axis=0)
    if runs > 0:
        number = tl.cumsum(longer, axis=0)
        for run in range(1, runs + 1):
            chosen = (longer != 0) & (number == run)
            first = tl.sum(tl.where(chosen, (before + 1).to(tl.int64), 0), axis=0)
            end = tl.sum(tl.where(chosen, here - SHORT + 1, 0), axis=0)
            value = tl.sum(tl.where(chosen, entry, 0), axis=0).to(tl.int32)
            for start in range(first, end, BLOCK):
                places = start + tl.arange(0, BLOCK)
                tl.store(row_ptr + places, value, mask=places < end)


def solve(row, row_ptr, rows, nnz):
    # A place for number nnz, too: so there is a program for nnz = 0.
    offsets_of[(nnz // BLOCK + 1,)](row, row_ptr, rows, nnz, BLOCK=BLOCK, SHORT=SHORT, num_warps=4)
