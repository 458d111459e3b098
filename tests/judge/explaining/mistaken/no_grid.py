import triton
import triton.language as tl


@triton.jit
def add(a, b, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(a + i, mask=mask) + tl.load(b + i, mask=mask), mask=mask)


def solve(a, b, out, n):
    add(a, b, out, n, BLOCK=1024)
