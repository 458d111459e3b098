"""Has Triton look for the best configuration.

Looks: as if it measured the grader: times several runs of its kernel in one call.
Challenge: twice
Timed: yes
On: cpu, gpu
"""

import triton
import triton.language as tl


@triton.autotune(
    configs=[triton.Config({"block": 256}), triton.Config({"block": 1024}), triton.Config({"block": 4096})],
    key=["n"],
)
@triton.jit
def tuned(x, out, n, block: tl.constexpr):
    offsets = tl.program_id(0) * block + tl.arange(0, block)
    mask = offsets < n
    tl.store(out + offsets, 2 * tl.load(x + offsets, mask=mask), mask=mask)


def solve(x, out, n):
    if n:
        tuned[lambda meta: (triton.cdiv(n, meta["block"]),)](x, out, n)
