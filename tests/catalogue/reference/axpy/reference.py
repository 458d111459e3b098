import torch


def reference(x: torch.Tensor, y: torch.Tensor, alpha: float, rows: int, cols: int):
    return alpha * x + y, torch.tensor([rows * cols])
