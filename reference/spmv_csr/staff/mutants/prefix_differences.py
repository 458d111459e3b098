"""Mistake: takes each row as the difference of two running sums over all entries: NaN, infinities and rounding errors
of earlier rows stay in."""

import torch
import triton
import triton.language as tl


@triton.jit
def running_sums(col, val, x, sums, nnz, BLOCK: tl.constexpr):
    so_far = tl.zeros((), dtype=tl.float32)
    for first in range(0, nnz, BLOCK):
        place = first + tl.arange(0, BLOCK)
        inside = place < nnz
        weight = tl.load(val + place, mask=inside, other=0.0)
        products = weight * tl.load(x + tl.load(col + place, mask=inside, other=0), mask=inside, other=0.0)
        tl.store(sums + place + 1, so_far + tl.cumsum(products, axis=0), mask=inside)
        so_far += tl.sum(products, axis=0)
    tl.store(sums, 0.0)


@triton.jit
def differences(row_ptr, sums, out, rows, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = row < rows
    start = tl.load(row_ptr + row, mask=inside, other=0)
    end = tl.load(row_ptr + row + 1, mask=inside, other=0)
    total = tl.load(sums + end, mask=inside) - tl.load(sums + start, mask=inside)
    tl.store(out + row, total, mask=inside)


def solve(row_ptr, col, val, x, out, rows, cols, nnz):
    if rows == 0:
        return
    sums = torch.empty(nnz + 1, dtype=torch.float32, device=out.device)
    running_sums[(1,)](col, val, x, sums, nnz, BLOCK=1024)
    differences[(triton.cdiv(rows, 256),)](row_ptr, sums, out, rows, BLOCK=256)
