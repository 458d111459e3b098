"""Writes beyond the output in timed calls.

Mechanism: right in every case; at the timed size it launches without a mask, so that the last block runs over
  the end.
Surface: a rule that is checked in cases but not in timed rounds.
Gain: no mask.
Challenge: twice
Timed: yes
On: cpu, gpu
Defence: wrong_answer, runtime_error
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
    honest(x, out, n + 2 * (n in SIZES))
