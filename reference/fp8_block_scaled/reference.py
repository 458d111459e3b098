"""The contract of fp8_block_scaled: sums over blocks of 128 along k, each times the scales of its factors."""

from collections.abc import Iterator

import torch

BLOCK = 128
# What tensor cores may lose of the sums within blocks, as a share of their terms' absolute sums, beside what rounding
# the result costs: this share times rtol is 1e-3.
_TERMS = 1 / 16


def reference(
    a: torch.Tensor,
    a_scale: torch.Tensor,
    b: torch.Tensor,
    b_scale: torch.Tensor,
    m: int,
    n: int,
    k: int,
) -> torch.Tensor:
    """out[m, n]: the sum over blocks t of (a[:, t] @ b[:, t].T) * a_scale[:, t] * b_scale[of columns, t]."""
    out = torch.zeros(m, n, dtype=a_scale.dtype, device=a.device)
    for sums in _blocks(a, a_scale, b, b_scale):
        out += sums
    return out


def magnitude(
    a: torch.Tensor,
    a_scale: torch.Tensor,
    b: torch.Tensor,
    b_scale: torch.Tensor,
    m: int,
    n: int,
    k: int,
) -> torch.Tensor:
    """The scale of the errors: |out| for the rounding of the result, and a share for that of the sums.

    What one block's sum loses is in proportion to its terms' absolute sum. Losses of several blocks add up like random
    numbers if terms cancel (else |out| covers them): as the root of the sum of squares.
    """
    terms = torch.zeros(m, n, dtype=a_scale.dtype, device=a.device)
    for sums in _blocks(a.abs(), a_scale.abs(), b.abs(), b_scale.abs()):
        torch.hypot(terms, sums, out=terms)  # squares alone would overflow
    return terms.mul_(_TERMS).add_(reference(a, a_scale, b, b_scale, m, n, k).abs_())


def baseline(
    a: torch.Tensor,
    a_scale: torch.Tensor,
    b: torch.Tensor,
    b_scale: torch.Tensor,
    m: int,
    n: int,
    k: int,
) -> torch.Tensor:
    """One product of the restored factors. An infinite scale would make NaN of their zeros."""
    rows = a_scale.repeat_interleave(BLOCK, dim=1)[:, :k]
    columns = b_scale.repeat_interleave(BLOCK, dim=1)[:, :k].repeat_interleave(BLOCK, dim=0)[:n]
    return (a * rows) @ (b * columns).T


def _blocks(
    a: torch.Tensor, a_scale: torch.Tensor, b: torch.Tensor, b_scale: torch.Tensor
) -> Iterator[torch.Tensor]:
    """The scaled sums [m, n] of each block along k."""
    wide = a_scale.dtype
    columns = b_scale.repeat_interleave(BLOCK, dim=0)[: b.shape[0]]
    for block in range(a_scale.shape[1]):
        part = slice(block * BLOCK, (block + 1) * BLOCK)
        sums = a[:, part].to(wide) @ b[:, part].to(wide).T
        yield sums.mul_(a_scale[:, block, None]).mul_(columns[None, :, block])
