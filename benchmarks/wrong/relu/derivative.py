# Mistake: the derivative is stored: 1 where x is above 0.
# Says: (\b1\b) ; (positive|above|wherever|instead|derivative|divided by)
import triton
import triton.language as tl


@triton.jit
def relu(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.where(v > 0, 1.0, 0.0), mask=i < n)


def solve(x, out, n):
    if n:
        relu[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
