"""The contract of matmul: what PyTorch's own product does, in the precision of its inputs."""

import torch


def reference(a: torch.Tensor, b: torch.Tensor, m: int, n: int, k: int) -> torch.Tensor:
    """out[m, n] = a[m, k] @ b[k, n]; zeros where k = 0."""
    return a @ b


def magnitude(a: torch.Tensor, b: torch.Tensor, m: int, n: int, k: int) -> torch.Tensor:
    """The scale of each sum's rounding errors: the same sum over absolute values.

    In precision u a sum of k products is off by at most about k * u * (|a| @ |b|), in any order of summation
    (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1): cancellation does not enter.
    """
    return a.abs() @ b.abs()
