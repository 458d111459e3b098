# Mistake: the elements are added instead of multiplied.
# Says: (added|sum|addition|\+|plus) ; (multipl|product|not|instead|a plus b|a \+ b|all of (a|b) is 1)
import triton
import triton.language as tl


@triton.jit
def dot(a, b, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(a + i, mask=i < n, other=0.0)
    y = tl.load(b + i, mask=i < n, other=0.0)
    tl.atomic_add(out, tl.sum(x + y, axis=0))


def solve(a, b, out, n):
    out.zero_()
    if n:
        dot[(triton.cdiv(n, 1024),)](a, b, out, n, BLOCK=1024)
