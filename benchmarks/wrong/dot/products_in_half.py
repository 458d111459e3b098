# Mistake: the products are rounded to float16 before they are added.
# Says: (float16|half|16 bits) ; (round|product|sum|adds|precision)
import triton
import triton.language as tl


@triton.jit
def dot(a, b, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(a + i, mask=i < n, other=0.0)
    y = tl.load(b + i, mask=i < n, other=0.0)
    tl.atomic_add(out, tl.sum((x * y).to(tl.float16).to(tl.float32)))


def solve(a, b, out, n):
    out.zero_()
    if n:
        dot[(triton.cdiv(n, 512),)](a, b, out, n, BLOCK=512)
