"""The contract of saxpy: what PyTorch's own product and sum do."""

import torch


def reference(x: torch.Tensor, y: torch.Tensor, alpha: float, n: int) -> torch.Tensor:
    """y[n] = alpha * x[n] + y[n]. NaN and infinities follow IEEE 754, also where alpha is 0."""
    return alpha * x + y


def magnitude(x: torch.Tensor, y: torch.Tensor, alpha: float, n: int) -> torch.Tensor:
    """The scale of each rounding error: that of the terms, which may be far larger than their sum."""
    return abs(alpha) * x.abs() + y.abs()
