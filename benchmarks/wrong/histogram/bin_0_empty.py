# Mistake: values must be above 0 to be counted, so bin 0 stays empty.
# Says: (bin 0|out\[0\]|element 0|first (bin|element)) ; (\b0\b)
import triton
import triton.language as tl


@triton.jit
def count(x, out, n, bins, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=-1)
    tl.atomic_add(out + v, 1, mask=(v > 0) & (v < bins))


def solve(x, out, n, bins):
    out.zero_()
    if n and bins:
        count[(triton.cdiv(n, 1024),)](x, out, n, bins, BLOCK=1024)
