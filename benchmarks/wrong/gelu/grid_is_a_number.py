# Mistake: the grid is a number, not a tuple.
# Says: grid ; tuple|\(.*,\)
import triton
import triton.language as tl


@triton.jit
def gelu(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(y + i, 0.5 * v * (1 + tl.erf(v * 0.7071067811865476)), mask=i < n)


def solve(x, out, n):
    if n:
        blocks = triton.cdiv(n, 1024)
        gelu[blocks](x, out, n, BLOCK=1024)  # HERE
