# Mistake: the carry is the sum of the chunk before, not of all chunks before.
# Says: (carry|chunk|block|tile|512) ; (before|previous|only|accumul|last)
import triton
import triton.language as tl


@triton.jit
def scan(x, out, n, BLOCK: tl.constexpr):
    carry = 0.0
    for first in range(0, n, BLOCK):
        i = first + tl.arange(0, BLOCK)
        v = tl.load(x + i, mask=i < n, other=0.0)
        tl.store(out + i, tl.cumsum(v, axis=0) + carry, mask=i < n)
        carry = tl.sum(v)


def solve(x, out, n):
    if n:
        scan[(1,)](x, out, n, BLOCK=512)
