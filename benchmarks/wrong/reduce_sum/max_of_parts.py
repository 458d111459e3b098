# Mistake: the programs' sums are put together with atomic_max, not atomic_add.
# Says: (max|largest|greatest)
import triton
import triton.language as tl


@triton.jit
def total(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_max(out, tl.sum(tl.load(x + i, mask=i < n, other=0.0), axis=0))


def solve(x, out, n):
    out.zero_()
    if n:
        total[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
