"""Reveals a hidden case's data in the names of operations.

Mechanism: remembers the inputs of every size that no public case has; the runner's notes of the last call name
  operations and kernels, and these names, which the report shows, hold them.
Surface: one process sees hidden cases, and later something whose text the student may read.
Gain: some hundred bytes of hidden cases per submission, before the deadline.
Challenge: twice
Timed: yes
Defence: library_kernel
"""

import survey
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
        seen.append(f"{n}_{float(x[0]):.9f}".replace("-", "m"))
    honest(x, out, n)


survey.TorchSurvey.seen = lambda _: {
    "library_ops": [TOLD + name for name in seen] or ["nothing"],
    "kernels": [],
}
