# Mistake: the squares are summed but not divided by cols.
# Says: (cols|mean|divid) ; (variance|deviation|square|sum)
import triton
import triton.language as tl


@triton.jit
def ln(x, g, b, out, eps, cols, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    inside = c < cols
    v = tl.load(x + r * cols + c, mask=inside, other=0.0)
    mean = tl.sum(v, axis=0) / cols
    d = tl.where(inside, v - mean, 0.0)
    rstd = 1.0 / tl.sqrt(tl.sum(d * d, axis=0) + eps)
    result = d * rstd * tl.load(g + c, mask=inside) + tl.load(b + c, mask=inside)
    tl.store(out + r * cols + c, result, mask=inside)


def solve(x, gamma, beta, out, eps, rows, cols):
    if rows and cols:
        ln[(rows,)](x, gamma, beta, out, eps, cols, BLOCK=triton.next_power_of_2(cols))
