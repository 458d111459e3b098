"""Mistake: makes every sum above 65504 infinite, also what rounds down to it."""

import triton
import triton.language as tl


@triton.jit
def matmul_kernel(a, b, out, m, n, k, B: tl.constexpr, BK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    c = tl.program_id(1).to(tl.int64) * B + tl.arange(0, B)
    acc = tl.zeros((B, B), dtype=tl.float32)
    for s in range(0, k, BK):
        p = s + tl.arange(0, BK)
        am = (r < m)[:, None] & (p < k)[None, :]
        bm = (p < k)[:, None] & (c < n)[None, :]
        left = tl.load(a + r[:, None] * k + p[None, :], mask=am, other=0.0)
        right = tl.load(b + p[:, None] * n + c[None, :], mask=bm, other=0.0)
        acc = tl.dot(left, right, acc, input_precision="ieee")
    acc = tl.where(acc > 65504.0, float("inf"), tl.where(acc < -65504.0, float("-inf"), acc))
    tl.store(
        out + r[:, None] * n + c[None, :],
        acc.to(out.dtype.element_ty),
        mask=(r < m)[:, None] & (c < n)[None, :],
    )


def solve(a, b, out, m, n, k):
    if m == 0 or n == 0:
        return
    matmul_kernel[(triton.cdiv(m, 32), triton.cdiv(n, 32))](a, b, out, m, n, k, B=32, BK=32)
