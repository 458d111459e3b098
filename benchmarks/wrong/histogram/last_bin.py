# Mistake: the mask excludes the last bin.
# Says: (last|bins - 1|out\[\d+\]) ; (bin|0|exclu|count|empty|never)
import triton
import triton.language as tl


@triton.jit
def histogram(x, out, n, bins, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=-1)
    tl.atomic_add(out + v, 1, mask=(i < n) & (v >= 0) & (v < bins - 1))


def solve(x, out, n, bins):
    out.zero_()
    if n and bins:
        histogram[(triton.cdiv(n, 256),)](x, out, n, bins, BLOCK=256)
