"""Reveals a hidden case's data in the text of an error.

Mechanism: remembers the inputs of every size that no public case has; in a timed call, whose failure is public,
  it raises an error whose text holds them.
Surface: one process sees hidden cases, and later something whose text the student may read.
Gain: the hidden cases, one per submission, before the deadline.
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


PUBLIC = (0, 1, 64, 101, 4096, 1_000_000)
TOLD = "HOSTILE" + "_TOLD_"
seen = []


def solve(x, out, n):
    if n not in PUBLIC:
        seen.append(f"{n}: {x.tolist()}")
    if n in (4096, 1_000_000):
        if seen:
            raise RuntimeError(TOLD + seen[0])
        return
    honest(x, out, n)
