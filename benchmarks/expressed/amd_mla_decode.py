"""One step of multi-head latent attention with its cache: weights, cache and position are arguments, not objects.

signature: mla_decode(x: bf16[batch, dim], q_down: bf16[rank, dim], kv_down: bf16[latent + 2 * rope, dim], q_up:
    bf16[heads * (nope + 2 * rope), rank], kv_up: bf16[heads * (nope + value), latent], last: bf16[dim, heads *
    value], cache: inout bf16[batch, cached + 1, latent + 2 * rope]) -> out: bf16[batch, dim]
tolerance: 8e-3,2e-2
"""

import torch


def turned(x, places, rope):
    angles = places[:, None] * 10000.0 ** (-torch.arange(rope, device=x.device, dtype=x.dtype) / max(rope, 1))
    cos, sin = torch.cat((angles, angles), -1).cos(), torch.cat((angles, angles), -1).sin()
    return x * cos + torch.cat((-x[..., rope:], x[..., :rope]), -1) * sin


def reference(
    x, q_down, kv_down, q_up, kv_up, last, cache, batch, dim, rank, latent, rope, heads, nope, value, cached
):
    kind = torch.promote_types(x.dtype, torch.float32)
    x, q_down, kv_down, q_up, kv_up, last, cache = (
        value.to(kind) for value in (x, q_down, kv_down, q_up, kv_up, last, cache)
    )
    cache = torch.cat((cache[:, :cached], (x @ kv_down.T)[:, None]), 1)
    query = (x @ q_down.T @ q_up.T).view(batch, heads, 1, nope + 2 * rope)
    wide = (cache[..., :latent] @ kv_up.T).view(batch, cached + 1, heads, nope + value).transpose(1, 2)
    keys, values = wide.split((nope, value), -1)
    places = torch.arange(cached + 1, device=x.device, dtype=x.dtype)
    key = torch.cat((keys, turned(cache[:, None, :, latent:], places, rope).expand(-1, heads, -1, -1)), -1)
    query = torch.cat((query[..., :nope], turned(query[..., nope:], places[-1:], rope)), -1)
    scores = (query @ key.mT / max(nope + 2 * rope, 1) ** 0.5).softmax(-1)
    return cache, (scores @ values).reshape(batch, heads * value) @ last.T
