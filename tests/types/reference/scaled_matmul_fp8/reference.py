"""The contract: each product of a block of 32 elements is multiplied by both blocks' scales, and they are summed."""

import torch


def reference(
    a: torch.Tensor,
    b: torch.Tensor,
    a_scale: torch.Tensor,
    b_scale: torch.Tensor,
    m: int,
    n: int,
    blocks: int,
) -> torch.Tensor:
    """The rows of a times the rows of b: [m, n]."""
    return _scaled(a, a_scale) @ _scaled(b, b_scale).T


def magnitude(
    a: torch.Tensor,
    b: torch.Tensor,
    a_scale: torch.Tensor,
    b_scale: torch.Tensor,
    m: int,
    n: int,
    blocks: int,
) -> torch.Tensor:
    """The same with absolute values."""
    return reference(a.abs(), b.abs(), a_scale, b_scale, m, n, blocks)


def _scaled(values: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    return values * scale.repeat_interleave(32, dim=1)
