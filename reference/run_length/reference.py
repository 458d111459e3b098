"""The contract of run_length: PyTorch's consecutive unique elements, in arrays of full length."""

import torch


def reference(x: torch.Tensor, n: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """values[n] and lengths[n] (int32) of the runs of x[n], count[1] (int64). What follows the runs does not count."""
    runs, counts = torch.unique_consecutive(x, return_counts=True)
    values, lengths = torch.zeros_like(x), torch.zeros_like(x)
    values[: runs.numel()] = runs
    lengths[: counts.numel()] = counts
    return values, lengths, torch.full((1,), runs.numel(), dtype=torch.int64, device=x.device)
