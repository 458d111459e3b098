# Mistake: NaN is kept: the test is "not v <= 0".
# Says: NaN ; (kept|keeps|counted|is not to|not above|comparison|passes|taken)
import triton
import triton.language as tl


@triton.jit
def compact(x, out, count, n, BLOCK: tl.constexpr):
    total = tl.zeros((), tl.int64)
    for first in range(0, n, BLOCK):
        i = first + tl.arange(0, BLOCK)
        v = tl.load(x + i, mask=i < n, other=0.0)
        keep = (v <= 0) == 0
        at = total + tl.cumsum(keep.to(tl.int64), axis=0) - 1
        tl.store(out + at, v, mask=keep & (i < n))
        total += tl.sum((keep & (i < n)).to(tl.int64))
    for first in range(0, n, BLOCK):
        i = first + tl.arange(0, BLOCK)
        tl.store(out + i, 0.0, mask=(i < n) & (i >= total))
    tl.store(count, total)


def solve(x, out, count, n):
    compact[(1,)](x, out, count, n, BLOCK=256)
