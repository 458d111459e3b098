# Mistake: b is loaded from a's pointer.
# Says: (b .*(no effect|never|not used)|never uses .*b|b is a)
import triton
import triton.language as tl


@triton.jit
def add(a, b, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(a + i, mask=i < n)
    y = tl.load(a + i, mask=i < n)
    tl.store(out + i, x + y, mask=i < n)


def solve(a, b, out, n):
    if n:
        add[(triton.cdiv(n, 256),)](a, b, out, n, BLOCK=256)
