# Mistake: the mean divides by BLOCK, not by the number of columns.
# Says: BLOCK ; (mean|divid|elements)
import triton
import triton.language as tl


@triton.jit
def layernorm(x, gamma, beta, out, eps, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    m = c < cols
    v = tl.load(x + row * cols + c, mask=m, other=0.0)
    mean = tl.sum(v, axis=0) / BLOCK  # HERE
    d = tl.where(m, v - mean, 0.0)
    var = tl.sum(d * d, axis=0) / cols
    y = d / tl.sqrt(var + eps) * tl.load(gamma + c, mask=m) + tl.load(beta + c, mask=m)
    tl.store(out + row * cols + c, y, mask=m)


def solve(x, gamma, beta, out, eps, rows, cols):
    if rows and cols:
        layernorm[(rows,)](x, gamma, beta, out, eps, cols, BLOCK=triton.next_power_of_2(cols))
