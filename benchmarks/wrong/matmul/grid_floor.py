# Mistake: the grid rounds down, so the last rows and columns have no program.
# Says: rounds down|cdiv
import triton
import triton.language as tl


@triton.jit
def mm(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, k, BK):
        rk = k0 + tl.arange(0, BK)
        x = tl.load(a + rm[:, None] * k + rk[None, :], mask=(rm[:, None] < m) & (rk[None, :] < k), other=0)
        y = tl.load(b + rk[:, None] * n + rn[None, :], mask=(rk[:, None] < k) & (rn[None, :] < n), other=0)
        acc = tl.dot(x, y, acc, input_precision="ieee")
    tl.store(c + rm[:, None] * n + rn[None, :], acc, mask=(rm[:, None] < m) & (rn[None, :] < n))


def solve(a, b, out, m, n, k):
    BM = BN = 16
    if m and n:
        mm[(m // BM, n // BN)](a, b, out, m, n, k, BM=BM, BN=BN, BK=32)  # HERE
