# Mistake: the mask of x ends at n - 1: the last element counts as 0.
# Says: (last|x\[n - 1\]|n - 1) ; (never read|left out|no effect|not read|counts as 0|leaves|\bx\b)
import triton
import triton.language as tl


@triton.jit
def conv(x, w, out, n, k, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    s = tl.zeros((BLOCK,), tl.float32)
    for t in range(k):
        s += tl.load(x + i + t, mask=i + t < n - 1, other=0.0) * tl.load(w + t)
    tl.store(out + i, s, mask=i < n - k + 1)


def solve(x, w, out, n, k):
    if n - k + 1 > 0:
        conv[(triton.cdiv(n - k + 1, 256),)](x, w, out, n, k, BLOCK=256)
