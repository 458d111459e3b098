"""Batched product of NVFP4 matrices; without the copies of the scales in tensor-core order.

signature: nvfp4_gemm(a: float4_e2m1fn[batch, m, 16 * blocks], b: float4_e2m1fn[batch, n, 16 * blocks], scale_a:
    float8_e4m3fn[batch, m, blocks], scale_b: float8_e4m3fn[batch, n, blocks]) -> c: f16[batch, m, n]
tolerance: 1e-3,1e-3
"""


def reference(a, b, scale_a, scale_b, batch, m, n, blocks):
    wide = a * scale_a.repeat_interleave(16, -1)
    return wide @ (b * scale_b.repeat_interleave(16, -1)).mT


def magnitude(**given):
    return reference(
        **{name: value if isinstance(value, int) else value.abs() for name, value in given.items()}
    )
