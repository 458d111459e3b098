import torch


def reference(x: torch.Tensor, n: int) -> torch.Tensor:
    return 2 * x
