"""Mistake: takes the largest k times."""

import triton
import triton.language as tl


@triton.jit
def top(x, k, values, indices, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    places = tl.arange(0, BLOCK)
    left = tl.load(x + row * cols + places, mask=places < cols, other=float("-inf"))
    for turn in range(k):
        most = tl.max(left, axis=0)
        at = tl.argmax(left, axis=0)
        tl.store(values + row * k + turn, most)
        tl.store(indices + row * k + turn, at.to(tl.int64))


def solve(x, k, values, indices, rows, cols):
    if rows and k:
        top[(rows,)](x, k, values, indices, cols, BLOCK=triton.next_power_of_2(cols))
