"""The contract of segmented_scan. PyTorch has no such operation, so this is made of its elementwise ones.

A difference of cumulative sums would not do: inf - inf is NaN, and rounding errors of one segment would reach the next.
"""

import torch


def _scan(values: torch.Tensor, heads: torch.Tensor) -> torch.Tensor:
    """Sums of neighbours are scanned first, then the even places are filled: log2(n) levels, each half as long."""
    if values.shape[0] < 2:
        return values
    pairs = values.shape[0] // 2
    left, right = values[0 : 2 * pairs : 2], values[1::2]
    sums = torch.where(heads[1::2], right, left + right)
    odd = _scan(sums, heads[0 : 2 * pairs : 2] | heads[1::2])
    out = torch.empty_like(values)
    out[0] = values[0]
    out[1::2] = odd
    even = values[2::2]
    out[2::2] = torch.where(heads[2::2], even, odd[: even.shape[0]] + even)
    return out


def reference(x: torch.Tensor, flags: torch.Tensor, n: int) -> torch.Tensor:
    """out[n]: the sum of x from the last flag at or before i (from 0 if there is none) up to and including i."""
    return _scan(x, flags != 0) if n > 1 else x.clone()


def magnitude(x: torch.Tensor, flags: torch.Tensor, n: int) -> torch.Tensor:
    """The scale of each sum's rounding errors: the same sum over absolute values."""
    return reference(x.abs(), flags, n)
