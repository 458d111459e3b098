"""Tries one way and takes another.

Looks: as if it hid errors: catches its exceptions, also BaseException, and goes on.
Challenge: twice
Like: plain
On: cpu, gpu
"""

import triton
import triton.language as tl


@triton.jit
def twice(x, out, n, block: tl.constexpr):
    offsets = tl.program_id(0) * block + tl.arange(0, block)
    mask = offsets < n
    tl.store(out + offsets, 2 * tl.load(x + offsets, mask=mask), mask=mask)


def honest(x, out, n):
    if n:
        twice[(triton.cdiv(n, 1024),)](x, out, n, block=1024)


def first_choice(x):
    raise RuntimeError("this device has no such feature")


def solve(x, out, n):
    try:
        first_choice(x)
    except BaseException:
        honest(x, out, n)
