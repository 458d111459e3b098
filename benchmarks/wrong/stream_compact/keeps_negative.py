# Mistake: negative elements are kept, not positive ones.
# Says: (below 0|negative|sign|<)
import triton
import triton.language as tl





@triton.jit
def f(x, out, count, n, BLOCK: tl.constexpr):
    total = 0
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        v = tl.load(x + i, mask=i < n, other=0.0)
        keep = ((v < 0) & (i < n)).to(tl.int32)
        tl.store(out + total + tl.cumsum(keep, 0) - 1, v, mask=keep != 0)
        total += tl.sum(keep, 0)
    tl.store(count, total.to(tl.int64))


def solve(x, out, count, n):
    f[(1,)](x, out, count, n, BLOCK=256)
