# Mistake: tl.arange needs a power of two.
# Says: power of (2|two)
import triton
import triton.language as tl


@triton.jit
def add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # HERE
    m = i < n
    tl.store(c_ptr + i, tl.load(a_ptr + i, mask=m) + tl.load(b_ptr + i, mask=m), mask=m)


def solve(a, b, out, n):
    if n:
        add[(triton.cdiv(n, 1000),)](a, b, out, n, BLOCK=1000)
