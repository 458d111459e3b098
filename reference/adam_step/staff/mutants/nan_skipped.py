"""Mistake: leaves elements alone whose gradient is NaN."""

import math

import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def adamw_kernel(p, m, v, grad, lr, weight_decay, beta1, beta2, root2, eps, size, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    g = tl.load(grad + offsets, mask=inside)
    inside = inside & (g == g)
    old_m = tl.load(m + offsets, mask=inside)
    old_v = tl.load(v + offsets, mask=inside)
    old_p = tl.load(p + offsets, mask=inside)
    new_m = beta1 * old_m + (1 - beta1) * g
    new_v = beta2 * old_v + (1 - beta2) * g * g
    root = tl.sqrt(new_v) / root2 + eps
    new_p = old_p * (1 - lr * weight_decay) - size * new_m / root
    tl.store(m + offsets, new_m, mask=inside)
    tl.store(v + offsets, new_v, mask=inside)
    tl.store(p + offsets, new_p, mask=inside)


def solve(p, m, v, grad, lr, beta1, beta2, eps, weight_decay, bias1, bias2, n):
    if n == 0:
        return
    size, root2 = lr / bias1, math.sqrt(bias2)
    grid = (triton.cdiv(n, BLOCK),)
    adamw_kernel[grid](p, m, v, grad, lr, weight_decay, beta1, beta2, root2, eps, size, n, BLOCK=BLOCK)
