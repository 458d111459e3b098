"""The contract of weight_only_int4: activations times weights that a scale and a zero point per group restore."""

from collections.abc import Callable

import torch

GROUP = 128
# Weights that are restored at a time: all of a large matrix would not fit a GPU's memory.
_PART = 1 << 26


def reference(
    x: torch.Tensor,
    weights: torch.Tensor,
    scales: torch.Tensor,
    zeros: torch.Tensor,
    m: int,
    n: int,
    groups: int,
) -> torch.Tensor:
    """out[m, n] = x[m, k] @ w.T with w = (weights - zeros) * scales, k = 128 * groups, computed in float32 or more."""
    return _product(x, weights, scales, zeros, groups, lambda values: values)


def magnitude(
    x: torch.Tensor,
    weights: torch.Tensor,
    scales: torch.Tensor,
    zeros: torch.Tensor,
    m: int,
    n: int,
    groups: int,
) -> torch.Tensor:
    """The scale of the rounding errors: the same sum of absolute values."""
    return _product(x, weights, scales, zeros, groups, torch.abs)


def _product(
    x: torch.Tensor,
    weights: torch.Tensor,
    scales: torch.Tensor,
    zeros: torch.Tensor,
    groups: int,
    of: Callable[[torch.Tensor], torch.Tensor],
) -> torch.Tensor:
    # float16 would round the weights; of float64 copies the answer is float64.
    wide = torch.promote_types(x.dtype, torch.float32)
    x = of(x.to(wide))
    rows = max(1, _PART // (GROUP * max(1, groups)))
    parts = []
    for packed, scale, zero in zip(weights.split(rows), scales.split(rows), zeros.split(rows), strict=True):
        steps = packed.unflatten(1, (groups, GROUP)) - zero[:, :, None]  # from -15 to 15: int8 holds it
        restored = steps.to(wide) * scale.to(wide)[:, :, None]
        parts.append(x @ of(restored).flatten(1).T)
    return torch.cat(parts, dim=1)
