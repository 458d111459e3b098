import triton
import triton.language as tl


@triton.jit
def total(src, dst, count, W: tl.constexpr):
    at = tl.program_id(0) * W + tl.arange(0, W)
    part = tl.sum(tl.load(src + at, mask=at < count, other=0.0))
    tl.store(dst, part)


def solve(x, out, n):
    out.zero_()
    if n:
        total[(triton.cdiv(n, 256),)](x, out, n, W=256)
