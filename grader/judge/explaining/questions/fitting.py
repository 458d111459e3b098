"""Decides if another answer explains a wrong result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.judge.explaining.wrong import FEWEST, Wrong
from grader.judge.worst import allowed_error

if TYPE_CHECKING:
    import torch

EXPLAINED = 8.0
EXPLAINED_FEW = 200.0
# By chance, one in a hundred tries is near.
_CLOSER = 1e4


def fits(result: Wrong, answer: torch.Tensor) -> bool:
    """``answer`` (flat) explains the result and is not the right one."""
    if answer.numel() != result.got.numel() or not result.agrees(result.got, answer):
        return False
    if result.agrees(result.want, answer):
        return False
    if answer.is_floating_point() and not bool(answer.isfinite().any()):
        return False  # NaN everywhere has many reasons
    if int(result.wrong.sum()) >= FEWEST:
        return _closer(result, answer)
    if not result.want.is_floating_point():
        # A difference of 1 has many reasons.
        off = (result.got.double() - result.want.double()).abs()[result.wrong]
        return result.want.numel() >= FEWEST and bool((off > 1).all())
    allowed = allowed_error(result.want, result.allowance, result.magnitude)[result.wrong]
    got, want, other = (values.double()[result.wrong] for values in (result.got, result.want, answer))
    off = (got - want).abs()
    return bool((off > 20 * allowed).all()) and bool(((got - other).abs() * _CLOSER <= off).all())


def _closer(result: Wrong, answer: torch.Tensor) -> bool:
    """A tolerance alone may be too wide."""
    import torch

    got, want, other = (values.double()[result.wrong] for values in (result.got, result.want, answer))
    finite = torch.isfinite(got) & torch.isfinite(want) & torch.isfinite(other)
    if not bool(finite.any()):
        return True
    off, left = (got - want).abs()[finite].max(), (got - other).abs()[finite].max()
    return bool(left * EXPLAINED <= off)
