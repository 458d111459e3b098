# Mistake: rows are BLOCK apart instead of cols.
# Says: (row|stride) ; (cols|BLOCK)
import triton
import triton.language as tl


@triton.jit
def rmsnorm(x, gamma, out, eps, cols, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    mask = c < cols
    v = tl.load(x + r * BLOCK + c, mask=mask, other=0.0)
    g = tl.load(gamma + c, mask=mask, other=0.0)
    tl.store(out + r * cols + c, v / tl.sqrt(tl.sum(v * v) / cols + eps) * g, mask=mask)


def solve(x, gamma, out, eps, rows, cols):
    if rows and cols:
        rmsnorm[(rows,)](x, gamma, out, eps, cols, BLOCK=triton.next_power_of_2(cols))
