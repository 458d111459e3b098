"""The contract of reduce_sum: what PyTorch's own sum does."""

import torch


def reference(x: torch.Tensor, n: int) -> torch.Tensor:
    """out[1] = the sum of x[n], 0 where n = 0."""
    return x.sum(dim=0, keepdim=True)


def magnitude(x: torch.Tensor, n: int) -> torch.Tensor:
    """The scale of the sum's rounding errors: the same sum over absolute values.

    In precision u a sum of n terms is off by at most about n * u * sum(|x|), in any order of summation, and by far
    less where partial sums are added pairwise (Higham, Accuracy and Stability of Numerical Algorithms, chapter 4).
    """
    return x.abs().sum(dim=0, keepdim=True)
