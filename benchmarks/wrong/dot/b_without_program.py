# Mistake: the offset of the program is missing for b, so each program uses the first block of b.
# Says: \bb\b ; (program_id|first (block|\d+)|offset|elements 0 to|each (program|block))
import triton
import triton.language as tl


@triton.jit
def dot(a, b, out, n, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    i = tl.program_id(0).to(tl.int64) * BLOCK + lane
    x = tl.load(a + i, mask=i < n, other=0.0)
    y = tl.load(b + lane, mask=i < n, other=0.0)
    tl.atomic_add(out, tl.sum(x * y))


def solve(a, b, out, n):
    out.zero_()
    if n:
        dot[(triton.cdiv(n, 256),)](a, b, out, n, BLOCK=256)
