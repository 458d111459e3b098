# Mistake: lanes beyond the row count in the variance: there x - mean is -mean, not 0.
# Says: (mask|padding|tl\.where|lanes|beyond) ; (mean|variance|sum)
import triton
import triton.language as tl


@triton.jit
def layernorm(x, gamma, beta, out, eps, cols, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    mask = c < cols
    v = tl.load(x + r * cols + c, mask=mask, other=0.0)
    mean = tl.sum(v) / cols
    d = v - mean
    var = tl.sum(d * d) / cols
    g = tl.load(gamma + c, mask=mask)
    b = tl.load(beta + c, mask=mask)
    tl.store(out + r * cols + c, d / tl.sqrt(var + eps) * g + b, mask=mask)


def solve(x, gamma, beta, out, eps, rows, cols):
    if rows and cols:
        layernorm[(rows,)](x, gamma, beta, out, eps, cols, BLOCK=triton.next_power_of_2(cols))
