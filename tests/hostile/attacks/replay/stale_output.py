"""Leaves the previous call's answer in the output.

Mechanism: the first call at the timed size writes; later ones return at once.
Surface: outputs that are not cleared between calls.
Gain: a time of zero.
Challenge: twice
Like: by_call_number
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
written = False


def solve(x, out, n):
    global written
    if n in SIZES and written:
        return
    honest(x, out, n)
    written = n in SIZES
