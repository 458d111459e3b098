# Mistake: beta is not added.
# Says: beta
import triton
import triton.language as tl


@triton.jit
def layernorm(x, gamma, beta, out, eps, cols, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + r * cols + c, mask=c < cols, other=0.0)
    mean = tl.sum(v) / cols
    d = tl.where(c < cols, v - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(d * d) / cols + eps)
    tl.store(out + r * cols + c, d * rstd * tl.load(gamma + c, mask=c < cols), mask=c < cols)


def solve(x, gamma, beta, out, eps, rows, cols):
    if rows and cols:
        layernorm[(rows,)](x, gamma, beta, out, eps, cols, BLOCK=triton.next_power_of_2(cols))
