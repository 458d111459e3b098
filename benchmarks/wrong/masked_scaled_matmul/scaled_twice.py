# Mistake: scale is applied to a and to the sum.
# Says: scale ; (twice|squared|2 times|scale times|by scale|again)
import triton
import triton.language as tl


@triton.jit
def mm(a, b, mask, c, scale, m, n, k, B: tl.constexpr):
    rm = tl.program_id(0) * B + tl.arange(0, B)
    rn = tl.program_id(1) * B + tl.arange(0, B)
    acc = tl.zeros((B, B), tl.float32)
    for first in range(0, k, B):
        rk = first + tl.arange(0, B)
        x = tl.load(a + rm[:, None] * k + rk[None, :], mask=(rm[:, None] < m) & (rk[None, :] < k), other=0.0)
        y = tl.load(b + rk[:, None] * n + rn[None, :], mask=(rk[:, None] < k) & (rn[None, :] < n), other=0.0)
        acc = tl.dot(x * scale, y, acc, input_precision="ieee")
    inside = (rm[:, None] < m) & (rn[None, :] < n)
    keep = tl.load(mask + rm[:, None] * n + rn[None, :], mask=inside, other=0)
    tl.store(c + rm[:, None] * n + rn[None, :], tl.where(keep != 0, acc * scale, 0.0), mask=inside)


def solve(a, b, mask, out, scale, m, n, k):
    if m and n:
        mm[(triton.cdiv(m, 32), triton.cdiv(n, 32))](a, b, mask, out, scale, m, n, k, B=32)
