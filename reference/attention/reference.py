"""The contract of attention: scaled dot-product attention, every query over all keys of its head."""

from collections.abc import Iterator

import torch
from torch.nn.functional import scaled_dot_product_attention


def reference(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, heads: int, seq: int, dim: int
) -> torch.Tensor:
    """out[heads, seq, dim] = softmax(q k^T * scale) v, for each head."""
    out = torch.empty_like(q)
    for head, _, weights in _weights(q, k, scale):
        out[head] = weights @ v[head]
    return out


def baseline(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, heads: int, seq: int, dim: int
) -> torch.Tensor:
    """PyTorch's own. On GPUs its fused kernels make NaN of an infinite value that has weight."""
    if q.numel() == 0:
        return torch.empty_like(q)
    # A batch of one: they take four dimensions.
    return scaled_dot_product_attention(q[None], k[None], v[None], scale=scale)[0]


def magnitude(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, heads: int, seq: int, dim: int
) -> torch.Tensor:
    """The scale of rounding errors, to first order.

    A score is off by about u * t, where u is the precision and t = |q| |k|^T * |scale| does not cancel. That changes
    its weight p by the factor 1 + u * (t + sum of p * t over the row), and each product with a value by 1 + u.
    """
    out = torch.empty_like(q)
    for head, terms, weights in _weights(q, k, scale):
        terms += (weights * terms).sum(dim=1, keepdim=True) + 1
        out[head] = (weights * terms) @ v[head].abs()
    return out


def _weights(
    q: torch.Tensor, k: torch.Tensor, scale: float
) -> Iterator[tuple[int, torch.Tensor, torch.Tensor]]:
    """Head, |q| |k|^T * |scale|, and the weights, both [seq, seq]: head by head, to bound memory."""
    for head in range(q.shape[0]):
        terms = q[head].abs() @ k[head].abs().T * abs(scale)
        yield head, terms, torch.softmax(q[head] @ k[head].T * scale, dim=1)
