# Mistake: the minimum with 0 is taken, not the maximum.
# Says: (positive|minimum|min|negative)
import triton
import triton.language as tl


@triton.jit
def relu(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.where(v < 0, v, 0.0), mask=i < n)


def solve(x, out, n):
    if n:
        relu[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
