import triton
import triton.language as tl


@triton.jit
def one_program(x, out, n, B: tl.constexpr):
    # A single program in double precision. Slow on a big card, but right.
    acc = tl.zeros((B,), dtype=tl.float64)
    for k in range(0, tl.cdiv(n, B)):
        o = k * B + tl.arange(0, B)
        acc = acc + tl.load(x + o, mask=o < n, other=0.0).to(tl.float64)
    r = tl.sum(acc, axis=0)
    tl.store(out, r.to(tl.float32))


def solve(x, out, n):
    one_program[(1,)](x, out, n, B=2048, num_warps=8)
