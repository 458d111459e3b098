"""AdamW step."""

import triton
import triton.language as tl


@triton.jit
def kernel(p, m, v, grad, lr, beta1, beta2, eps, weight_decay, bias1, bias2, n, BLOCK: tl.constexpr):
    # One program's work. The numbers of its elements, in 64 bits:
    # offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    pass


def solve(p, m, v, grad, lr, beta1, beta2, eps, weight_decay, bias1, bias2, n):
    """Write the result into the output; return nothing.

    p             inout   float32 [n]
    m             inout   float32 [n]
    v             inout   float32 [n]
    grad          input   float32 [n]
    lr            scalar  float32
    beta1         scalar  float32
    beta2         scalar  float32
    eps           scalar  float32
    weight_decay  scalar  float32
    bias1         scalar  float32
    bias2         scalar  float32
    n             size    int64
    """
    # kernel[(blocks,)](..., BLOCK=1024)
    # Sizes may be 0: ask before launching, and leave nothing unwritten that the output holds.
