# Mistake: the loads have no mask along k, so the last tile takes elements of the next row.
# Says: mask ; (rk|\bk\b)
import triton
import triton.language as tl


@triton.jit
def mm(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, k, BK):
        rk = k0 + tl.arange(0, BK)
        x = tl.load(a + rm[:, None] * k + rk[None, :], mask=rm[:, None] < m, other=0)  # HERE
        y = tl.load(b + rk[:, None] * n + rn[None, :], mask=rn[None, :] < n, other=0)  # HERE
        acc = tl.dot(x, y, acc, input_precision="ieee")
    tl.store(c + rm[:, None] * n + rn[None, :], acc, mask=(rm[:, None] < m) & (rn[None, :] < n))


def solve(a, b, out, m, n, k):
    if m and n:
        mm[(triton.cdiv(m, 32), triton.cdiv(n, 32))](a, b, out, m, n, k, BM=32, BN=32, BK=32)
