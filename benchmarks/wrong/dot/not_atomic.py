# Mistake: every program loads, adds and stores the total without an atomic.
# Says: program ; atomic
import triton
import triton.language as tl


@triton.jit
def dot(a, b, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(a + i, mask=i < n, other=0.0)
    y = tl.load(b + i, mask=i < n, other=0.0)
    total = tl.load(out)
    tl.store(out, total + tl.sum(x * y))  # HERE


def solve(a, b, out, n):
    out.zero_()
    if n:
        dot[(triton.cdiv(n, 256),)](a, b, out, n, BLOCK=256)
