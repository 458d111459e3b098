# Mistake: lanes beyond n are loaded as 0 and counted in bin 0.
# Says: (bin 0|out\[0\]|element 0|first bin|first element) ; (mask|padding|too (many|large|great|high)|more|beyond)
import triton
import triton.language as tl


@triton.jit
def count(x, out, n, bins, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.atomic_add(out + v, 1, mask=(v >= 0) & (v < bins))


def solve(x, out, n, bins):
    out.zero_()
    if n and bins:
        count[(triton.cdiv(n, 1024),)](x, out, n, bins, BLOCK=1024)
