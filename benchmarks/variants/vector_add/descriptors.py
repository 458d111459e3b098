"""Whole blocks through tensor descriptors, so by TMA; the last one by pointers, as a tile that TMA stores ends at a
multiple of 16 bytes, and an array need not. A descriptor for each block: their coordinates are 32 bits wide."""

import torch
import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def add_kernel(a, b, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK
    if at + BLOCK <= n:
        left = tl.make_tensor_descriptor(a + at, shape=[BLOCK], strides=[1], block_shape=[BLOCK])
        right = tl.make_tensor_descriptor(b + at, shape=[BLOCK], strides=[1], block_shape=[BLOCK])
        total = tl.make_tensor_descriptor(out + at, shape=[BLOCK], strides=[1], block_shape=[BLOCK])
        total.store([0], left.load([0]) + right.load([0]))
    else:
        places = at + tl.arange(0, BLOCK)
        inside = places < n
        tl.store(out + places, tl.load(a + places, inside) + tl.load(b + places, inside), inside)


def solve(a, b, out, n):
    if n == 0:
        return
    # Where the kernel writes its descriptors.
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device=a.device))
    add_kernel[(triton.cdiv(n, BLOCK),)](a, b, out, n, BLOCK=BLOCK)
