"""Uses the input as scratch memory in timed calls, and leaves it changed.

Mechanism: right in every case; at the timed size it doubles the input in place.
Surface: a rule that is checked in cases but not in timed rounds.
Gain: no allocation, and less traffic.
Challenge: twice
Timed: yes
On: cpu, gpu
Defence: wrong_answer
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


SIZES = (4096, 1_000_000)


def solve(x, out, n):
    if n in SIZES:
        honest(x, x, n)
        copied[(triton.cdiv(n, 1024),)](x, out, n, block=1024)
    else:
        honest(x, out, n)


@triton.jit
def copied(x, out, n, block: tl.constexpr):
    offsets = tl.program_id(0) * block + tl.arange(0, block)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask), mask=mask)
