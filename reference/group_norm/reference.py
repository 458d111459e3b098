"""The contract of group_norm: what PyTorch's own group_norm does."""

import torch


def reference(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor,
    eps: float,
    batch: int,
    channels: int,
    spatial: int,
    groups: int,
) -> torch.Tensor:
    """out[batch, channels, spatial] = (x - mean of the group) / sqrt(variance of the group + eps) * weight + bias.

    The variance is the biased one: the mean of the squared deviations. A group with NaN or an infinity is NaN.
    """
    # torch.nn.functional.group_norm refuses a batch of one group with one element; the operation itself does not.
    return torch.group_norm(x, groups, weight, bias, eps)


def magnitude(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor,
    eps: float,
    batch: int,
    channels: int,
    spatial: int,
    groups: int,
) -> torch.Tensor:
    """The scale of the rounding errors: the same operation with every term made positive.

    x - mean cancels where the mean is large, and the mean itself is only known to a share of mean |x|.
    """
    if x.numel() == 0:
        return x
    grouped = x.view(batch, groups, -1)
    spread = torch.sqrt(grouped.var(dim=2, correction=0, keepdim=True) + eps)
    scaled = (grouped.abs() + grouped.abs().mean(dim=2, keepdim=True)) / spread
    return scaled.view_as(x) * weight.abs()[:, None] + bias.abs()[:, None]
