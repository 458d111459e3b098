# Mistake: the factor 0.5 is applied to x and to 1 + erf.
# Says: (0\.5|half|2\b) ; (times|twice|factor|half|divided|again)
import triton
import triton.language as tl


@triton.jit
def gelu(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    phi = 0.5 * (1.0 + tl.math.erf(v * 0.7071067811865476))
    tl.store(out + i, 0.5 * v * phi, mask=i < n)


def solve(x, out, n):
    if n:
        gelu[(triton.cdiv(n, 512),)](x, out, n, BLOCK=512)
