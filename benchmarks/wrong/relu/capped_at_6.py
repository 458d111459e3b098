# Mistake: it is ReLU6: values are cut off at 6.
# Says: \b6\b ; (cut|cap|clamp|at most|limit|larger|above|greater|maximum)
import triton
import triton.language as tl


@triton.jit
def relu6(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    v = tl.where(v < 0, 0.0, v)
    v = tl.where(v > 6, 6.0, v)
    tl.store(out + i, v, mask=i < n)


def solve(x, out, n):
    if n:
        relu6[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
