"""The contract of rope: rotary position embedding with the pairs (i, i + dim / 2)."""

import torch


def reference(
    x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, heads: int, seq: int, dim: int
) -> torch.Tensor:
    """out[heads, seq, dim]: each pair of x turned by the angle that cos[seq, dim / 2] and sin[seq, dim / 2] give."""
    first, second = x[..., : dim // 2], x[..., dim // 2 :]
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


def magnitude(
    x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, heads: int, seq: int, dim: int
) -> torch.Tensor:
    """The scale of each rounding error: that of the two products, which may be far larger than their sum."""
    first, second = x[..., : dim // 2].abs(), x[..., dim // 2 :].abs()
    cos, sin = cos.abs(), sin.abs()
    return torch.cat((first * cos + second * sin, second * cos + first * sin), dim=-1)
