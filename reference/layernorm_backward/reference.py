"""The contract of layernorm_backward: what autograd makes of layer normalisation."""

import torch

# Rows that are worked on at once: float64 needs several copies of them, and the largest workload is 2 GiB in one.
ROWS_AT_ONCE = 8192


def layernorm(
    x: torch.Tensor, gamma: torch.Tensor, beta: torch.Tensor, mean: torch.Tensor, rstd: torch.Tensor
) -> torch.Tensor:
    """(x - mean) * rstd * gamma + beta, for rows of x[rows, cols].

    ``mean`` and ``rstd`` [rows] are taken as they were saved by the forward pass: their values are those given. Their
    derivatives are those of the row's own mean and of its own 1 / sqrt(variance + eps), so that autograd sees what a
    forward pass does. ``value + (f - f.detach())`` has the value of the one and the derivative of the other.
    """
    own_mean = x.mean(dim=1)
    variance = (x - mean[:, None]).square().mean(dim=1)
    centre = mean + (own_mean - own_mean.detach())
    # d(v + eps)^(-1/2) / dv = -1/2 * (v + eps)^(-3/2) = -1/2 * rstd^3: eps itself is not needed.
    factor = rstd - 0.5 * rstd**3 * (variance - variance.detach())
    return (x - centre[:, None]) * factor[:, None] * gamma + beta


def by_autograd(
    dy: torch.Tensor, x: torch.Tensor, gamma: torch.Tensor, mean: torch.Tensor, rstd: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """dx, dgamma, dbeta of ``layernorm`` for the gradient ``dy`` of its output."""
    with torch.enable_grad():
        leaves = (x.requires_grad_(), gamma.requires_grad_(), torch.zeros_like(gamma).requires_grad_())
        return torch.autograd.grad(layernorm(*leaves, mean, rstd), leaves, dy)


def reference(
    dy: torch.Tensor,
    x: torch.Tensor,
    gamma: torch.Tensor,
    mean: torch.Tensor,
    rstd: torch.Tensor,
    rows: int,
    cols: int,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """dx[rows, cols], dgamma[cols], dbeta[cols]; the latter two are zeros where rows = 0."""
    if x.is_cuda and x.dtype is torch.float32 and rows and cols:
        # What a training step calls: one fused operation. (On a CPU it cancels where the mean is large.)
        fused = torch.ops.aten.native_layer_norm_backward
        return fused(dy, x, [cols], mean[:, None], rstd[:, None], gamma, gamma, [True, True, True])
    dx, dgamma, dbeta = torch.empty_like(x), torch.zeros_like(gamma), torch.zeros_like(gamma)
    for start in range(0, rows, ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        dx[part], own_dgamma, own_dbeta = by_autograd(
            dy[part], x[part].clone(), gamma.clone(), mean[part], rstd[part]
        )
        dgamma += own_dgamma
        dbeta += own_dbeta
    return dx, dgamma, dbeta


def magnitude(
    dy: torch.Tensor,
    x: torch.Tensor,
    gamma: torch.Tensor,
    mean: torch.Tensor,
    rstd: torch.Tensor,
    rows: int,
    cols: int,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The scale of rounding errors: every sum over absolute values, every difference as a sum.

    With w = dy * gamma and h = (x - mean) * rstd, dx = rstd * (w - mean of w - h * mean of (w * h)).
    """
    dx, dgamma, dbeta = torch.empty_like(x), torch.zeros_like(gamma), torch.zeros_like(gamma)
    for start in range(0, rows, ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        dy_part, factor = dy[part].abs(), rstd[part, None].abs()
        h = (x[part] - mean[part, None]).abs() * factor
        w = dy_part * gamma.abs()
        dx[part] = factor * (w + w.mean(dim=1, keepdim=True) + h * (w * h).mean(dim=1, keepdim=True))
        dgamma += (dy_part * h).sum(dim=0)
        dbeta += dy_part.sum(dim=0)
    return dx, dgamma, dbeta
