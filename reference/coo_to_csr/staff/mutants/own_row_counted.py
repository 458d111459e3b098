"""Mistake: takes an inclusive scan of the counts: the entries of the row itself count, too."""

import torch
import triton
import triton.language as tl

BLOCK = 256


@triton.jit
def count(row, counts, nnz, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mine = tl.load(row + i, mask=i < nnz, other=0)
    tl.atomic_add(counts + mine, 1, mask=i < nnz)


@triton.jit
def scan(counts, row_ptr, rows, BLOCK: tl.constexpr):
    carry = tl.zeros((), dtype=tl.int32)
    for start in range(0, rows + 1, BLOCK):
        r = start + tl.arange(0, BLOCK)
        ahead = tl.load(counts + r, mask=r < rows, other=0)
        tl.store(row_ptr + r, carry + tl.cumsum(ahead, axis=0), mask=r <= rows)
        carry += tl.sum(ahead, axis=0)


def solve(row, row_ptr, rows, nnz):
    counts = torch.zeros(rows + 1, dtype=torch.int32, device=row.device)
    if nnz > 0:
        count[(triton.cdiv(nnz, BLOCK),)](row, counts, nnz, BLOCK=BLOCK)
    scan[(1,)](counts, row_ptr, rows, BLOCK=BLOCK)
