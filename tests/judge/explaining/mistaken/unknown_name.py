import triton
import triton.language as tl


@triton.jit
def act(v):
    return tl.maximum(v, zero)


@triton.jit
def clip(src, dst, count, W: tl.constexpr):
    where = tl.program_id(0) * W + tl.arange(0, W)
    tl.store(dst + where, act(tl.load(src + where, mask=where < count)), mask=where < count)


def solve(x, out, n):
    if n:
        clip[(triton.cdiv(n, 128),)](x, out, n, W=128)
