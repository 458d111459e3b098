# Mistake: the weights are not divided by their sum.
# Says: (sum|normal|total) ; (divid|normal)
import triton
import triton.language as tl


@triton.jit
def attention(q, k, v, out, scale, seq, dim, BLOCK: tl.constexpr, D: tl.constexpr):
    i = tl.program_id(0)
    h = tl.program_id(1) * seq * dim
    j = tl.arange(0, BLOCK)
    d = tl.arange(0, D)
    one = tl.load(q + h + i * dim + d, mask=d < dim, other=0.0)
    at = h + j[:, None] * dim + d[None, :]
    inside = (j[:, None] < seq) & (d[None, :] < dim)
    s = tl.sum(tl.load(k + at, mask=inside, other=0.0) * one[None, :], axis=1) * scale
    s = tl.where(j < seq, s, -float("inf"))
    p = tl.exp(s - tl.max(s, axis=0))
    values = tl.load(v + at, mask=inside, other=0.0)
    tl.store(out + h + i * dim + d, tl.sum(values * p[:, None], axis=0), mask=d < dim)


def solve(q, k, v, out, scale, heads, seq, dim):
    if heads * seq * dim:
        block = triton.next_power_of_2(seq)
        attention[(seq, heads)](q, k, v, out, scale, seq, dim, BLOCK=block, D=triton.next_power_of_2(dim))
