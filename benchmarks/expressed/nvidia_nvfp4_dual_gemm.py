"""silu(A B1) * (A B2) of NVFP4 matrices; without the copies of the scales in tensor-core order.

signature: nvfp4_dual_gemm(a: float4_e2m1fn[batch, m, 16 * blocks], b1: float4_e2m1fn[batch, n, 16 * blocks],
    b2: float4_e2m1fn[batch, n, 16 * blocks], scale_a: float8_e4m3fn[batch, m, blocks], scale_b1:
    float8_e4m3fn[batch, n, blocks], scale_b2: float8_e4m3fn[batch, n, blocks]) -> c: f16[batch, m, n]
tolerance: 1e-3,1e-3
"""

import torch


def reference(a, b1, b2, scale_a, scale_b1, scale_b2, batch, m, n, blocks):
    a, b1, b2 = (
        codes * scales.repeat_interleave(16, -1)
        for codes, scales in ((a, scale_a), (b1, scale_b1), (b2, scale_b2))
    )
    return torch.nn.functional.silu(a @ b1.mT) * (a @ b2.mT)
