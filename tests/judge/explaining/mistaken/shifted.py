import triton
import triton.language as tl


@triton.jit
def scan(src, dst, n, W: tl.constexpr):
    i = tl.arange(0, W)
    v = tl.load(src + i, mask=i < n, other=0.0)
    tl.store(dst + i, tl.cumsum(v, axis=0) - v, mask=i < n)


def solve(x, out, n):
    if n:
        scan[(1,)](x, out, n, W=triton.next_power_of_2(n))
