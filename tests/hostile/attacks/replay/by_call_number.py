"""Right for the first calls, which other graders check, and wrong from then on.

Mechanism: counts its calls at the timed size; from the fifth on it copies the fourth's result. On the emulated
  board, which makes up to two calls before the counted one, it copies from the third on.
Surface: graders that check some calls and time others.
Gain: the time of a copy.
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
calls = 0
kept = None


def solve(x, out, n):
    global calls, kept
    calls += n in SIZES
    compiled_for_host = isinstance(twice, triton.JITFunction) and not x.is_cuda
    if calls > (2 if compiled_for_host else 4):
        out.copy_(kept)
        return
    honest(x, out, n)
    kept = out.clone()
