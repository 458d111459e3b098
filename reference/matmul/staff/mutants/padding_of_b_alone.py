"""Mistake: beyond k only b is filled with 0; a repeats its last column, and inf * 0 is NaN."""

import triton
import triton.language as tl


@triton.jit
def matmul_kernel(a, b, out, m, n, k, B: tl.constexpr, BK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    c = tl.program_id(1).to(tl.int64) * B + tl.arange(0, B)
    acc = tl.zeros((B, B), dtype=tl.float32)
    for s in range(0, k, BK):
        p = s + tl.arange(0, BK)
        bm = (p < k)[:, None] & (c < n)[None, :]
        pc = tl.minimum(p, k - 1)
        left = tl.load(a + r[:, None] * k + pc[None, :], mask=(r < m)[:, None], other=0.0)
        right = tl.load(b + p[:, None] * n + c[None, :], mask=bm, other=0.0)
        acc = tl.dot(left, right, acc, input_precision="ieee")
    tl.store(
        out + r[:, None] * n + c[None, :],
        acc.to(out.dtype.element_ty),
        mask=(r < m)[:, None] & (c < n)[None, :],
    )


def solve(a, b, out, m, n, k):
    if m == 0 or n == 0:
        return
    matmul_kernel[(triton.cdiv(m, 32), triton.cdiv(n, 32))](a, b, out, m, n, k, B=32, BK=32)
