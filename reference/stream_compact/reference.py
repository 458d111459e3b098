"""The contract of stream_compact: PyTorch's selection by a mask, in an array of full length."""

import torch


def reference(x: torch.Tensor, n: int) -> tuple[torch.Tensor, torch.Tensor]:
    """out[n], count[1] (int64): the elements > 0 in order, and how many. out[count:] does not count."""
    kept = x[x > 0]
    out = torch.zeros_like(x)
    out[: kept.numel()] = kept
    return out, torch.full((1,), kept.numel(), dtype=torch.int64, device=x.device)
