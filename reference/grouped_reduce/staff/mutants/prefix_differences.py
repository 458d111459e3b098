"""Mistake: takes each group as the difference of two running sums over all elements: NaN, infinities and rounding
errors of earlier groups stay in."""

import torch
import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def running_sums(values, sums, n, BLOCK: tl.constexpr):
    carry = tl.zeros((), dtype=tl.float32)
    tl.store(sums, carry)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        value = tl.load(values + i, mask=i < n, other=0.0)
        tl.store(sums + 1 + i, carry + tl.cumsum(value, axis=0), mask=i < n)
        carry += tl.sum(value, axis=0)


@triton.jit
def subtract(sums, offsets, out, groups, BLOCK: tl.constexpr):
    group = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    begin = tl.load(offsets + group, mask=group < groups, other=0)
    end = tl.load(offsets + group + 1, mask=group < groups, other=0)
    tl.store(out + group, tl.load(sums + end) - tl.load(sums + begin), mask=group < groups)


def solve(values, offsets, out, n, groups):
    sums = torch.empty(n + 1, dtype=torch.float32, device=values.device)
    running_sums[(1,)](values, sums, n, BLOCK=BLOCK)
    if groups > 0:
        subtract[(triton.cdiv(groups, BLOCK),)](sums, offsets, out, groups, BLOCK=BLOCK)
