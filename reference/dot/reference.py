"""The contract of dot: what PyTorch's own dot product does."""

import torch


def reference(a: torch.Tensor, b: torch.Tensor, n: int) -> torch.Tensor:
    """out[1] = the sum of a[n] * b[n], 0 where n = 0."""
    return torch.dot(a, b).reshape(1)


def magnitude(a: torch.Tensor, b: torch.Tensor, n: int) -> torch.Tensor:
    """The scale of the sum's rounding errors: the same sum over absolute values.

    In precision u a sum of n products is off by at most about n * u * sum(|a * b|), in any order of summation
    (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1): cancellation does not enter.
    """
    return torch.dot(a.abs(), b.abs()).reshape(1)
