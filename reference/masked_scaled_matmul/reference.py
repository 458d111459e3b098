"""The contract of masked_scaled_matmul: a product, a factor, and zeros where the mask says so."""

import torch


def reference(
    a: torch.Tensor, b: torch.Tensor, mask: torch.Tensor, scale: float, m: int, n: int, k: int
) -> torch.Tensor:
    """out[m, n] = (a[m, k] @ b[k, n]) * scale where mask[m, n] is not 0, else 0, whatever the product is there."""
    return torch.where(mask != 0, (a @ b) * scale, 0)


def magnitude(
    a: torch.Tensor, b: torch.Tensor, mask: torch.Tensor, scale: float, m: int, n: int, k: int
) -> torch.Tensor:
    """The scale of each sum's rounding errors: the same operation over absolute values; 0 where the mask is 0."""
    return torch.where(mask != 0, (a.abs() @ b.abs()) * abs(scale), 0)
