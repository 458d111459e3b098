"""The contract of batch_norm: the forward pass of PyTorch in training, with what it saves for the backward pass."""

import torch

Results = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


def reference(
    x: torch.Tensor,
    gamma: torch.Tensor,
    beta: torch.Tensor,
    eps: float,
    batch: int,
    channels: int,
    spatial: int,
) -> Results:
    """out[batch, channels, spatial] = (x - mean) * rstd * gamma + beta, and mean[channels] and rstd[channels].

    The variance is the biased one: the mean of the squared deviations. The mean of a channel with an infinity is
    infinite, and its other results are NaN. (The fused operation's running mean becomes NaN there on a GPU.)
    """
    if x.numel() == 0:
        nothing = torch.full_like(gamma, torch.nan)
        return torch.empty_like(x), nothing, nothing.clone()
    mean = x.mean(dim=(0, 2))
    rstd = torch.rsqrt(x.var(dim=(0, 2), correction=0) + eps)
    out = (x - mean[:, None]) * rstd[:, None] * gamma[:, None] + beta[:, None]
    return out, mean, rstd


def baseline(
    x: torch.Tensor,
    gamma: torch.Tensor,
    beta: torch.Tensor,
    eps: float,
    batch: int,
    channels: int,
    spatial: int,
) -> Results:
    """What a training step calls: one fused operation. It refuses empty batches."""
    if x.numel() == 0:
        return reference(x, gamma, beta, eps, batch, channels, spatial)
    return torch.native_batch_norm(x, gamma, beta, None, None, True, 0.0, eps)


def magnitude(
    x: torch.Tensor,
    gamma: torch.Tensor,
    beta: torch.Tensor,
    eps: float,
    batch: int,
    channels: int,
    spatial: int,
) -> Results:
    """The scale of the rounding errors: the same operation with every term made positive.

    x - mean cancels if the mean is large, and the mean itself is only known to a share of mean |x|. So are the
    deviations, and with them rstd.
    """
    if x.numel() == 0:
        return torch.zeros_like(x), torch.zeros_like(gamma), torch.zeros_like(gamma)
    scale = x.abs().mean(dim=(0, 2))
    rstd = torch.rsqrt(x.var(dim=(0, 2), correction=0) + eps)
    out = (x.abs() + scale[:, None]) * rstd[:, None] * gamma.abs()[:, None] + beta.abs()[:, None]
    return out, scale, rstd * (1 + scale * rstd)
