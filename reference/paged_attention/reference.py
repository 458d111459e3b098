"""The contract of paged_attention: attention of one query per head to the keys that a table of pages names."""

import torch
from torch.nn.functional import scaled_dot_product_attention


def reference(
    q: torch.Tensor,
    k_pages: torch.Tensor,
    v_pages: torch.Tensor,
    table: torch.Tensor,
    lengths: torch.Tensor,
    scale: float,
    sequences: int,
    q_heads: int,
    kv_heads: int,
    pages: int,
    page_size: int,
    max_pages: int,
    dim: int,
) -> torch.Tensor:
    """out[sequences, q_heads, dim]: softmax(q k^T * scale) v over the first lengths[s] keys of sequence s, 0 of none.

    Key j of sequence s is in slot j % page_size of page table[s, j // page_size]. Head h of q has the keys and values
    of head h // (q_heads // kv_heads).
    """
    return _weighted(q, k_pages, v_pages, table, lengths, scale, absolute=False)


def magnitude(
    q: torch.Tensor,
    k_pages: torch.Tensor,
    v_pages: torch.Tensor,
    table: torch.Tensor,
    lengths: torch.Tensor,
    scale: float,
    sequences: int,
    q_heads: int,
    kv_heads: int,
    pages: int,
    page_size: int,
    max_pages: int,
    dim: int,
) -> torch.Tensor:
    """The scale of rounding errors: the same weights, on absolute values."""
    return _weighted(q, k_pages, v_pages, table, lengths, scale, absolute=True)


def baseline(
    q: torch.Tensor,
    k_pages: torch.Tensor,
    v_pages: torch.Tensor,
    table: torch.Tensor,
    lengths: torch.Tensor,
    scale: float,
    sequences: int,
    q_heads: int,
    kv_heads: int,
    pages: int,
    page_size: int,
    max_pages: int,
    dim: int,
) -> torch.Tensor:
    """Gathers whole caches and masks what is beyond the lengths: the host need not wait for these."""
    if q.numel() == 0 or max_pages == 0:
        return torch.zeros_like(q)
    seq = max_pages * page_size
    seen = torch.arange(seq, device=q.device)[None, :] < lengths[:, None]
    k, v = (
        cache[table.long()].view(sequences, seq, kv_heads, dim).transpose(1, 2)
        for cache in (k_pages, v_pages)
    )
    queries = q.view(sequences, kv_heads, q_heads // kv_heads, dim)
    found = scaled_dot_product_attention(queries, k, v, attn_mask=seen[:, None, None, :], scale=scale)
    return torch.where(lengths[:, None, None] == 0, 0.0, found.reshape(sequences, q_heads, dim)).to(q.dtype)


def _weighted(
    q: torch.Tensor,
    k_pages: torch.Tensor,
    v_pages: torch.Tensor,
    table: torch.Tensor,
    lengths: torch.Tensor,
    scale: float,
    absolute: bool,
) -> torch.Tensor:
    out = torch.zeros_like(q)
    if out.numel() == 0:
        return out
    # Scores of float16 may be beyond float16. PyTorch's fused attention for CPUs drops NaN in some lengths.
    wide = torch.promote_types(q.dtype, torch.float32)
    page_size, kv_heads, dim = k_pages.shape[1:]
    for i, length in enumerate(lengths.tolist()):
        if length == 0:
            continue
        own = table[i, : -(-length // page_size)].long()
        k, v = (
            cache[own].view(-1, kv_heads, dim)[:length].transpose(0, 1).to(wide)
            for cache in (k_pages, v_pages)
        )
        scores = q[i].reshape(kv_heads, -1, dim).to(wide) @ k.transpose(1, 2)
        weights = torch.softmax(scores.mul_(scale), dim=2)
        out[i] = (weights @ (v.abs() if absolute else v)).reshape(q.shape[1:])
    return out
