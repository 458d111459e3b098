# Mistake: the store has no mask.
# Says: (past the end|outside) ; no mask
import torch
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    y = tl.where(x < 0, 0.0, x)
    tl.store(y_ptr + offs, y)  # HERE


def solve(x, out, n):
    if n > 0:
        relu_kernel[(triton.cdiv(n, 512),)](x, out, n, BLOCK=512)
