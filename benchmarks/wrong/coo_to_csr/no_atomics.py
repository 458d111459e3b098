# Mistake: entries of one row add to its counter without an atomic operation, so some are lost.
# Says: (atomic|lost|same (counter|element|place)|at the same time|race)
import torch
import triton
import triton.language as tl


@triton.jit
def count(row, counts, nnz, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    r = tl.load(row + i, mask=i < nnz, other=0)
    c = tl.load(counts + r, mask=i < nnz, other=0)
    tl.store(counts + r, c + 1, mask=i < nnz)


@triton.jit
def scan(counts, row_ptr, rows, BLOCK: tl.constexpr):
    carry = tl.zeros((), dtype=tl.int32)
    for start in range(0, rows + 1, BLOCK):
        r = start + tl.arange(0, BLOCK)
        c = tl.load(counts + r - 1, mask=(r > 0) & (r <= rows), other=0)
        tl.store(row_ptr + r, carry + tl.cumsum(c, axis=0), mask=r <= rows)
        carry += tl.sum(c)


def solve(row, row_ptr, rows, nnz):
    counts = torch.zeros(rows + 1, dtype=torch.int32, device=row.device)
    if nnz:
        count[(triton.cdiv(nnz, 512),)](row, counts, nnz, BLOCK=512)
    scan[(1,)](counts, row_ptr, rows, BLOCK=512)
