# Mistake: the kernel stores to x instead of y.
# Says: \bx\b ; (read-only|input)
import triton
import triton.language as tl


@triton.jit
def saxpy(x, y, alpha, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.store(x + i, alpha * tl.load(x + i, mask=m) + tl.load(y + i, mask=m), mask=m)


def solve(x, y, alpha, n):
    if n:
        saxpy[(triton.cdiv(n, 1024),)](x, y, alpha, n, BLOCK=1024)
