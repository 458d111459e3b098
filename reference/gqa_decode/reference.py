"""The contract of gqa_decode: attention of one query per head to the first keys of its sequence."""

import torch
from torch.nn.functional import scaled_dot_product_attention


def reference(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    lengths: torch.Tensor,
    scale: float,
    batch: int,
    q_heads: int,
    kv_heads: int,
    seq: int,
    dim: int,
) -> torch.Tensor:
    """out[batch, q_heads, dim]: softmax(q k^T * scale) v over the first lengths[b] keys of sequence b.

    Head h of q has the keys and values of head h // (q_heads // kv_heads).
    """
    return _weighted(q, k, v, lengths, scale)


def magnitude(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    lengths: torch.Tensor,
    scale: float,
    batch: int,
    q_heads: int,
    kv_heads: int,
    seq: int,
    dim: int,
) -> torch.Tensor:
    """The scale of rounding errors: the same weights, on absolute values."""
    return _weighted(q, k, v.abs(), lengths, scale)


def baseline(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    lengths: torch.Tensor,
    scale: float,
    batch: int,
    q_heads: int,
    kv_heads: int,
    seq: int,
    dim: int,
) -> torch.Tensor:
    """All sequences at once, with a mask: the host need not wait for the lengths."""
    if q.numel() == 0:
        return torch.empty_like(q)
    seen = torch.arange(seq, device=q.device)[None, :] < lengths[:, None]
    queries = q.view(batch, kv_heads, q_heads // kv_heads, dim)
    return scaled_dot_product_attention(queries, k, v, attn_mask=seen[:, None, None, :], scale=scale).view(
        batch, q_heads, dim
    )


def _weighted(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, lengths: torch.Tensor, scale: float
) -> torch.Tensor:
    out = torch.empty_like(q)
    if out.numel() == 0:
        return out
    # Scores of float16 may be beyond float16. PyTorch's fused attention for CPUs drops NaN in some lengths.
    wide = torch.promote_types(q.dtype, torch.float32)
    kv_heads = k.shape[1]
    for i, length in enumerate(lengths.tolist()):
        queries = q[i].reshape(kv_heads, -1, q.shape[2]).to(wide)
        scores = queries @ k[i, :, :length].to(wide).transpose(1, 2)
        out[i] = (torch.softmax(scores.mul_(scale), dim=2) @ v[i, :, :length].to(wide)).reshape(q.shape[1:])
    return out
