"""A is quantised to MXFP4 on the way, by the rule of the OCP's standard (AMD's library rounds its scales); B is
given in MXFP4, in one order of its bytes instead of three.

signature: mxfp4_mm(a: bf16[m, 32 * blocks], b: float4_e2m1fn[n, 32 * blocks], scale_b: float8_e8m0fnu[n,
    blocks]) -> c: bf16[m, n]
tolerance: 1e-2,1e-2
"""

import torch


def quantised(values):
    parts = values.unflatten(-1, (-1, 32))
    largest = parts.abs().amax(-1, keepdim=True).clamp(min=2.0**-120)
    scale = torch.ldexp(torch.ones_like(largest), torch.frexp(largest).exponent - 3)
    size = (parts / scale).abs()
    step = torch.where(size < 2, 0.5, torch.where(size < 4, 1.0, 2.0))
    return ((size / step).round() * step).clamp(max=6).copysign(parts).mul(scale).flatten(-2)


def reference(a, b, scale_b, m, n, blocks):
    return quantised(a.to(scale_b.dtype)) @ (b * scale_b.repeat_interleave(32, -1)).T


def magnitude(a, b, scale_b, m, n, blocks):
    return quantised(a.to(scale_b.dtype)).abs() @ (b.abs() * scale_b.repeat_interleave(32, -1)).T
