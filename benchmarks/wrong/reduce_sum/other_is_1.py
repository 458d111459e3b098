# Mistake: lanes beyond n are loaded as 1 and are added.
# Says: (other|mask|padding|beyond n|lanes) ; (other|1\b|added)
import triton
import triton.language as tl


@triton.jit
def total(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=1.0)
    tl.atomic_add(out, tl.sum(v))


def solve(x, out, n):
    out.zero_()
    if n:
        total[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
