# Mistake: weights are added to the values, not multiplied.
# Says: (added|\+|plus) ; (multipl|instead)
import triton
import triton.language as tl


@triton.jit
def conv(x, w, out, count, k, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for t in range(k):
        total += tl.load(x + i + t, mask=i < count, other=0.0) + tl.load(w + t)
    tl.store(out + i, total, mask=i < count)


def solve(x, w, out, n, k):
    if n >= k:
        conv[(triton.cdiv(n - k + 1, 256),)](x, w, out, n - k + 1, k, BLOCK=256)
