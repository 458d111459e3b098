"""The contract of cholesky_batched: column by column, as the formula says, with its NaN and infinities."""

import torch


def reference(a: torch.Tensor, batch: int, n: int) -> torch.Tensor:
    """out[batch, n, n]: the lower Cholesky factor of each matrix, with zeros above the diagonal.

    torch.linalg.cholesky refuses the whole batch if a pivot of one matrix is not positive.
    """
    out = torch.zeros_like(a)
    for j in range(n):
        column = a[:, j:, j] - (out[:, j:, :j] @ out[:, j, :j, None])[:, :, 0]
        root = column[:, :1].sqrt()
        out[:, j : j + 1, j] = root
        out[:, j + 1 :, j] = column[:, 1:] / root
    return out


def magnitude(a: torch.Tensor, batch: int, n: int) -> torch.Tensor:
    """The scale of rounding errors, for L = out: |L| F(|L^-1| |L| |L|^T |L^-T|).

    F takes the part below the diagonal, and half of the diagonal. If each product of the sums is rounded once, the
    matrix that is factored differs from a by |L| |L|^T times the unit of rounding, and the factor, to first order, by
    this.
    """
    # Elements that are not finite have no error; the others must not become NaN by them.
    low = reference(a, batch, n).nan_to_num_(0.0, 0.0, 0.0)
    diagonal = low.diagonal(dim1=1, dim2=2)
    diagonal[diagonal == 0] = 1.0
    unit = torch.eye(n, dtype=a.dtype, device=a.device).expand_as(a)
    inverse = torch.linalg.solve_triangular(low, unit, upper=False).abs_()
    low.abs_()
    half = inverse @ low
    half = (half @ half.mT).tril_()
    half.diagonal(dim1=1, dim2=2).mul_(0.5)
    return low @ half


def baseline(a: torch.Tensor, batch: int, n: int) -> torch.Tensor:
    """PyTorch's own factorisation, which leaves numbers where a pivot is not positive."""
    return torch.linalg.cholesky_ex(a).L
