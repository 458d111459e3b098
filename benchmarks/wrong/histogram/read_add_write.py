# Mistake: bins are loaded, counted up and stored without an atomic, so equal values in one block count once.
# Says: atomic
import torch
import triton
import triton.language as tl


@triton.jit
def histogram(x, out, n, bins, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    v = tl.load(x + i, mask=m, other=-1)
    ok = m & (v >= 0) & (v < bins)
    tl.store(out + v, tl.load(out + v, mask=ok) + 1, mask=ok)  # HERE


def solve(x, out, n, bins):
    out.zero_()
    if n:
        histogram[(triton.cdiv(n, 128),)](x, out, n, bins, BLOCK=128)
