# Mistake: the mask ends at n - 1, so the last element is never updated.
# Says: (last|n - 1) ; (never|not (written|updated|stored)|left|unchanged|1 too (few|early)|one too)
import triton
import triton.language as tl


@triton.jit
def saxpy(x, y, alpha, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n - 1
    u = tl.load(x + i, mask=mask)
    v = tl.load(y + i, mask=mask)
    tl.store(y + i, tl.fma(u, alpha, v), mask=mask)


def solve(x, y, alpha, n):
    if n:
        saxpy[(triton.cdiv(n, 256),)](x, y, alpha, n, BLOCK=256)
