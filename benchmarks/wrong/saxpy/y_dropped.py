# Mistake: y is not added.
# Says: (y .*(no effect|not (read|used|added)|is 0|never read)|without .*y|left out|lacks)
import triton
import triton.language as tl


@triton.jit
def saxpy(x, y, alpha, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, alpha * tl.load(x + i, mask=i < n), mask=i < n)


def solve(x, y, alpha, n):
    if n:
        saxpy[(triton.cdiv(n, 256),)](x, y, alpha, n, BLOCK=256)
