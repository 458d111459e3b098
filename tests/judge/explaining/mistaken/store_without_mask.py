import triton
import triton.language as tl


@triton.jit
def axpy(x, y, alpha, size, W: tl.constexpr):
    pos = tl.program_id(0) * W + tl.arange(0, W)
    ok = pos < size
    a = tl.load(x + pos, mask=ok)
    b = tl.load(y + pos, mask=ok)
    tl.store(y + pos, alpha * a + b)


def solve(x, y, alpha, n):
    if n:
        axpy[(triton.cdiv(n, 512),)](x, y, alpha, n, W=512)
