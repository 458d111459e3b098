import triton
import triton.language as tl


@triton.jit
def axpy(x, y, alpha, size, W: tl.constexpr):
    pos = tl.arange(0, W)
    ok = pos < size
    tl.store(y + pos, alpha * tl.load(x + pos, mask=ok) + tl.load(y + pos, mask=ok), mask=ok)


def solve(alpha, x, y, n):
    if n:
        axpy[(triton.cdiv(n, 128),)](x, y, alpha, n, W=128)
