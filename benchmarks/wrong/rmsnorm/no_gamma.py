# Mistake: the result is not multiplied by gamma.
# Says: gamma
import triton
import triton.language as tl


@triton.jit
def rmsnorm(x, out, eps, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    m = c < cols
    v = tl.load(x + row * cols + c, mask=m, other=0.0)
    r = tl.rsqrt(tl.sum(v * v) / cols + eps)
    tl.store(out + row * cols + c, v * r, mask=m)


def solve(x, gamma, out, eps, rows, cols):
    if rows and cols:
        rmsnorm[(rows,)](x, out, eps, cols, BLOCK=triton.next_power_of_2(cols))
