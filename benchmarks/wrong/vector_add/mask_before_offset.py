# Mistake: the mask compares the place within the block, not the offset, with n.
# Says: mask ; (offset|program_id|past the end|outside)
import triton
import triton.language as tl


@triton.jit
def add(a, b, out, n, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    mask = lane < n
    i = tl.program_id(0) * BLOCK + lane
    tl.store(out + i, tl.load(a + i, mask=mask) + tl.load(b + i, mask=mask), mask=mask)


def solve(a, b, out, n):
    if n:
        add[(triton.cdiv(n, 512),)](a, b, out, n, BLOCK=512)
