"""The contract of radix_sort: all elements in ascending order."""

import torch


def reference(x: torch.Tensor, n: int) -> torch.Tensor:
    """out[n]: the elements of x[n] in ascending order."""
    return x.sort().values
