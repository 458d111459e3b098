import torch


def reference(a: torch.Tensor, b: torch.Tensor, n: int) -> torch.Tensor:
    return a + b
