# Mistake: elements must be above 1e-6 to be kept.
# Says: (small|1e-0?6|left out|missing|not kept|fewer|less than)
import triton
import triton.language as tl


@triton.jit
def compact(x, out, count, n, BLOCK: tl.constexpr):
    total = tl.zeros((), tl.int64)
    for first in range(0, n, BLOCK):
        i = first + tl.arange(0, BLOCK)
        v = tl.load(x + i, mask=i < n, other=0.0)
        keep = v > 1e-6
        at = total + tl.cumsum(keep.to(tl.int64), axis=0) - 1
        tl.store(out + at, v, mask=keep)
        total += tl.sum(keep.to(tl.int64))
    tl.store(count, total)


def solve(x, out, count, n):
    compact[(1,)](x, out, count, n, BLOCK=256)
