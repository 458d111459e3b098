"""A cache by pointer.

Mechanism: keeps what the first call with these pointers computed; later calls with the same pointers get a copy of it,
which moves two thirds of the memory.
Surface: graders that time the same buffers with the same contents again and again.
Expected defence: the buffers are the same, their contents never: wrong answer.
"""

import triton
import triton.language as tl

BLOCK = 1024
RANKED = 2**28
kept = {}


@triton.jit
def add_kernel(a, b, out, n, block: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    inside = offsets < n
    total = tl.load(a + offsets, mask=inside) + tl.load(b + offsets, mask=inside)
    tl.store(out + offsets, total, mask=inside)


def solve(a, b, out, n):
    if n == 0:
        return
    key = (a.data_ptr(), b.data_ptr(), out.data_ptr())
    if n == RANKED and key in kept:
        out.copy_(kept[key])
        return
    add_kernel[(triton.cdiv(n, BLOCK),)](a, b, out, n, block=BLOCK)
    if n == RANKED:
        kept.clear()
        kept[key] = out.clone()
