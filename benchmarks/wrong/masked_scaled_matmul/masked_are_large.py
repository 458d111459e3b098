# Mistake: masked elements get -1e9 instead of 0.
# Says: (mask|-1e\+?0?9) ; (0|-1e)
import triton
import triton.language as tl


@triton.jit
def product(a, b, mask, out, scale, n, k, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for i in range(k):
        total += tl.load(a + r * k + i) * tl.load(b + i * n + c, mask=c < n, other=0.0)
    keep = tl.load(mask + r * n + c, mask=c < n, other=0)
    tl.store(out + r * n + c, tl.where(keep != 0, total * scale, -1e9), mask=c < n)


def solve(a, b, mask, out, scale, m, n, k):
    if m and n:
        product[(m, triton.cdiv(n, 64))](a, b, mask, out, scale, n, k, BLOCK=64)
