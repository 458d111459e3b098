"""The contract of inclusive_scan: what PyTorch's own cumulative sum does."""

import torch


def reference(x: torch.Tensor, n: int) -> torch.Tensor:
    """out[n]: out[i] = x[0] + ... + x[i]. NaN and infinities reach every element after them."""
    return torch.cumsum(x, dim=0)


def magnitude(x: torch.Tensor, n: int) -> torch.Tensor:
    """The scale of each sum's rounding errors: the same sum over absolute values.

    Whatever the order of summation, the error is bounded by a multiple of it that does not depend on cancellation
    (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2).
    """
    return torch.cumsum(x.abs(), dim=0)
