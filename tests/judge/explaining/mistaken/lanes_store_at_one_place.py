import triton
import triton.language as tl


@triton.jit
def halves(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.store(out + i // 2, v, mask=i < n)


def solve(x, out, n):
    if n:
        halves[(1,)](x, out, n, BLOCK=triton.next_power_of_2(n))
