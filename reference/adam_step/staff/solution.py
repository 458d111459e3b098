"""One step of AdamW in Triton: one program per block of elements, each of which is read once and written once."""

import math

import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def adamw_kernel(p, m, v, grad, decay, rest1, beta2, rest2, inverse_root, eps, size, n, BLOCK: tl.constexpr):
    # 64 bits before the multiplication: a 32-bit index wraps round from 2^31 elements on.
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    its_grad = tl.load(grad + offsets, mask=inside)
    old_m = tl.load(m + offsets, mask=inside)
    old_v = tl.load(v + offsets, mask=inside)
    old_p = tl.load(p + offsets, mask=inside)
    new_m = old_m + rest1 * (its_grad - old_m)  # as torch.lerp
    new_v = beta2 * old_v + rest2 * its_grad * its_grad
    root = tl.sqrt(new_v) * inverse_root + eps
    # In place is safe because no other program touches these elements: blocks do not overlap.
    tl.store(m + offsets, new_m, mask=inside)
    tl.store(v + offsets, new_v, mask=inside)
    tl.store(p + offsets, old_p * decay - size * (new_m / root), mask=inside)


def solve(p, m, v, grad, lr, beta1, beta2, eps, weight_decay, bias1, bias2, n):
    if n == 0:
        return  # there is nothing to launch
    # What does not depend on the element is computed once, in Python's double precision.
    adamw_kernel[(triton.cdiv(n, BLOCK),)](
        p,
        m,
        v,
        grad,
        1 - lr * weight_decay,
        1 - beta1,
        beta2,
        1 - beta2,
        1 / math.sqrt(bias2),
        eps,
        lr / bias1,
        n,
        BLOCK=BLOCK,
        num_warps=4,
    )
