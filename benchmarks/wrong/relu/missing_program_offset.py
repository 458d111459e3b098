# Mistake: tl.program_id is not multiplied by BLOCK, so blocks overlap.
# Says: (BLOCK|overlap|program_id|multipl|never written|same)
import triton
import triton.language as tl


@triton.jit
def relu(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) + tl.arange(0, BLOCK)  # HERE
    value = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.where(value != value, value, tl.maximum(value, 0.0)), mask=i < n)


def solve(x, out, n):
    if n:
        relu[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
