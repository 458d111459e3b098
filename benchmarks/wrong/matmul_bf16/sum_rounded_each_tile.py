# Mistake: the sum is rounded to bfloat16 after each tile.
# Says: (bfloat16|bf16) ; (sum|accumul|round|tile)
import triton
import triton.language as tl


@triton.jit
def mm(a, b, c, m, n, k, B: tl.constexpr):
    rm = tl.program_id(0) * B + tl.arange(0, B)
    rn = tl.program_id(1) * B + tl.arange(0, B)
    acc = tl.zeros((B, B), tl.bfloat16)
    for first in range(0, k, B):
        rk = first + tl.arange(0, B)
        x = tl.load(a + rm[:, None] * k + rk[None, :], mask=(rm[:, None] < m) & (rk[None, :] < k), other=0.0)
        y = tl.load(b + rk[:, None] * n + rn[None, :], mask=(rk[:, None] < k) & (rn[None, :] < n), other=0.0)
        acc = (acc.to(tl.float32) + tl.dot(x, y)).to(tl.bfloat16)
    tl.store(c + rm[:, None] * n + rn[None, :], acc, mask=(rm[:, None] < m) & (rn[None, :] < n))


def solve(a, b, out, m, n, k):
    if m and n:
        mm[(triton.cdiv(m, 32), triton.cdiv(n, 32))](a, b, out, m, n, k, B=32)
