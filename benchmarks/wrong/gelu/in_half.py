# Mistake: x is rounded to float16 before it is used.
# Says: (float16|half|16 bits) ; (round|precision|comput|accura)
import triton
import triton.language as tl


@triton.jit
def gelu(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0).to(tl.float16).to(tl.float32)
    tl.store(out + i, 0.5 * v * (1 + tl.erf(v * 0.70710678118)), mask=i < n)


def solve(x, out, n):
    if n:
        gelu[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
