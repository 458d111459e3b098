"""Keeps values that do not depend on the data.

Looks: like a cache of answers: a module-level dictionary, filled in the first call.
Challenge: twice
Like: static_table
Timed: yes
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


grids = {}


def solve(x, out, n):
    if n not in grids:
        grids[n] = (triton.cdiv(n, 1024),)
    if n:
        twice[grids[n]](x, out, n, block=1024)
