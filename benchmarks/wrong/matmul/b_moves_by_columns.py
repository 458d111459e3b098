# Mistake: the pointer to b moves on by BK elements instead of BK rows.
# Says: \bb\b ; (row|stride|\bn\b|BK|columns|tile|never read)
import triton
import triton.language as tl


@triton.jit
def mm(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    pa = a + rm[:, None] * k + rk[None, :]
    pb = b + rk[:, None] * n + rn[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(0, k, BK):
        left = k - first
        x = tl.load(pa, mask=(rm[:, None] < m) & (rk[None, :] < left), other=0.0)
        y = tl.load(pb, mask=(rk[:, None] < left) & (rn[None, :] < n), other=0.0)
        acc = tl.dot(x, y, acc, input_precision="ieee")
        pa += BK
        pb += BK
    tl.store(c + rm[:, None] * n + rn[None, :], acc, mask=(rm[:, None] < m) & (rn[None, :] < n))


def solve(a, b, out, m, n, k):
    if m and n:
        mm[(triton.cdiv(m, 32), triton.cdiv(n, 32))](a, b, out, m, n, k, BM=32, BN=32, BK=32)
