"""Attention of one query over a compressed cache in float8; the query is quantised on the way. The cache comes in
this type alone, not in three; all sequences have one length, as in all of its tests.

signature: mixed_mla(q: bf16[batch, heads, 64 + latent], cache: float8_e4m3fn[batch, cached, 64 + latent],
    scale: f32[1]) -> out: bf16[batch, heads, latent]
tolerance: 1e-1,1e-1
"""

import torch


def reference(q, cache, scale, batch, heads, latent, cached):
    q = q.to(scale.dtype)
    step = q.abs().amax().clamp(min=1e-12) / 448 if q.numel() else 1.0
    query = (q / step).clamp(-448, 448).to(torch.float8_e4m3fn).to(q.dtype) * step
    keys = cache.to(scale.dtype) * scale
    scores = query @ keys.mT / (64 + latent) ** 0.5
    return scores.softmax(-1) @ keys[..., :latent]
