import triton
import triton.language as tl


@triton.jit
def s(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out, tl.load(out) + tl.sum(tl.load(x + i, mask=i < n, other=0.0)))


def solve(x, out, n):
    out.zero_()
    if n: s[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
