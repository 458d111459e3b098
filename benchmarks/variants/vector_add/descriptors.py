"""Through tensor descriptors, so by TMA: what lies behind the last element is neither read nor written."""

import torch
import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def add_kernel(a, b, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK
    left = tl.make_tensor_descriptor(a, shape=[n], strides=[1], block_shape=[BLOCK])
    right = tl.make_tensor_descriptor(b, shape=[n], strides=[1], block_shape=[BLOCK])
    total = tl.make_tensor_descriptor(out, shape=[n], strides=[1], block_shape=[BLOCK])
    total.store([at], left.load([at]) + right.load([at]))


def solve(a, b, out, n):
    if n == 0:
        return
    # Where the kernel writes its descriptors.
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device=a.device))
    add_kernel[(triton.cdiv(n, BLOCK),)](a, b, out, n, BLOCK=BLOCK)
