# Mistake: the loop over k steps by two blocks but reads one, so every second block of k is skipped.
# Says: (every (second|other)|modulo|skip|half|only the first|never|no program reads|left out) ; (\bk\b|a\b|b\b|terms|tile)
import triton
import triton.language as tl


@triton.jit
def product(a, b, out, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    r = tl.program_id(0) * M + tl.arange(0, M)
    c = tl.program_id(1) * N + tl.arange(0, N)
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, k, 2 * K):
        i = start + tl.arange(0, K)
        left = tl.load(a + r[:, None] * k + i[None, :], mask=(r[:, None] < m) & (i[None, :] < k), other=0.0)
        right = tl.load(b + i[:, None] * n + c[None, :], mask=(i[:, None] < k) & (c[None, :] < n), other=0.0)
        total += tl.dot(left, right)
    tl.store(out + r[:, None] * n + c[None, :], total.to(tl.float16), mask=(r[:, None] < m) & (c[None, :] < n))


def solve(a, b, out, m, n, k):
    if m and n:
        product[(triton.cdiv(m, 32), triton.cdiv(n, 32))](a, b, out, m, n, k, M=32, N=32, K=16)
