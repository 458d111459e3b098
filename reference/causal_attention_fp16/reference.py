"""The contract of causal_attention_fp16: scaled dot-product attention in which no query sees a later key."""

from collections.abc import Iterator

import torch
from torch.nn.functional import scaled_dot_product_attention

# Queries whose scores are held at once: in float64, 2048 x 16384 of them take 256 MiB.
QUERIES_AT_ONCE = 2048


def reference(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, heads: int, seq: int, dim: int
) -> torch.Tensor:
    """out[heads, seq, dim] = softmax(q k^T * scale, over the keys up to the query's own) v, for each head."""
    if q.numel() and q.dtype is not torch.float64:
        # A batch of one: PyTorch's fused kernels take four dimensions.
        return scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True, scale=scale)[0]
    return _weighted(q, k, v, scale)


def magnitude(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, heads: int, seq: int, dim: int
) -> torch.Tensor:
    """The scale of rounding errors: the same weights, on absolute values."""
    return _weighted(q, k, v.abs(), scale)


def _weighted(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float) -> torch.Tensor:
    out = torch.empty_like(q)
    for head, queries, weights in _weights(q, k, scale):
        out[head, queries] = weights @ v[head, : queries.stop]
    return out


def _weights(q: torch.Tensor, k: torch.Tensor, scale: float) -> Iterator[tuple[int, slice, torch.Tensor]]:
    """Head, queries, and the weights [queries, keys up to the last of them]: block by block, to bound memory."""
    heads, seq, _ = q.shape
    for head in range(heads):
        for start in range(0, seq, QUERIES_AT_ONCE):
            queries = slice(start, min(start + QUERIES_AT_ONCE, seq))
            scores = q[head, queries] @ k[head, : queries.stop].T
            scores *= scale
            key = torch.arange(queries.stop, device=q.device)
            scores.masked_fill_(key[None, :] > key[queries, None], float("-inf"))
            yield head, queries, torch.softmax(scores, dim=1)
