"""Mistake: one row too few."""

import triton
import triton.language as tl


@triton.jit
def keep(threshold, mask, seed, x, count, kept, place, turned, numbers, rows, cols):
    found = 0
    for row in range(rows - 1):
        if tl.load(x + row * cols) > threshold:
            for i in range(cols):
                value = tl.load(x + row * cols + i)
                tl.store(kept + found * cols + i, value)
                tl.store(turned + i * rows + found, value)
            tl.store(place + found, row)
            found += 1
    tl.store(count, found)
    tl.store(numbers, mask)
    tl.store(numbers + 1, seed)


def solve(threshold, mask, seed, x, count, kept, place, turned, numbers, rows, cols):
    keep[(1,)](threshold, mask, seed, x, count, kept, place, turned, numbers, rows, cols)
