import triton
import triton.language as tl


@triton.jit
def add(a, b, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(a + i) + tl.load(b + i))


def solve(a, b, out, n):
    if n == 0:
        return
    add[(triton.cdiv(n, 1024),)](a, b, out, n, BLOCK=1024)
