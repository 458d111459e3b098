# Mistake: the count is the number of elements, not of those kept.
# Says: (count|there at all|elements)
import triton
import triton.language as tl


@triton.jit
def compact(x, out, count, n):
    p = tl.zeros((), dtype=tl.int64)
    for i in range(n):
        v = tl.load(x + i)
        if v > 0:
            tl.store(out + p, v)
            p += 1
    tl.store(count, n)


def solve(x, out, count, n):
    compact[(1,)](x, out, count, n)
