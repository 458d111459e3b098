from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from grader.challenge.model import Argument
from grader.challenge.tolerance import Allowance
from grader.judge.worst import wrong_elements

if TYPE_CHECKING:
    import torch

# Fewer wrong elements may fit a pattern by chance.
FEWEST = 8
TILES = (128, 64, 32, 16, 8)
_EXPLAINED = 8.0


@dataclass(frozen=True)
class Wrong:
    argument: Argument
    shape: tuple[int, ...]
    got: torch.Tensor
    want: torch.Tensor
    wrong: torch.Tensor
    poisoned: torch.Tensor | None
    #: The allowance's scale; None: ``want``.
    magnitude: torch.Tensor | None
    allowance: Allowance
    #: An in-out's values before the call, flat.
    given: torch.Tensor | None = None
    #: The right values in the case before, flat; None if another process ran that.
    before: torch.Tensor | None = None
    #: For inputs read in part: True for each element that was read, flat.
    read: Mapping[str, torch.Tensor] = field(default_factory=dict)

    @property
    def on_host(self) -> Wrong:
        tensors = {name: value.cpu() for name, value in vars(self).items() if hasattr(value, "is_cuda")}
        return replace(self, **tensors)

    def agrees(self, got: torch.Tensor, want: torch.Tensor) -> bool:
        import torch

        scale = None
        if self.magnitude is not None:
            finite = self.magnitude[torch.isfinite(self.magnitude)]
            scale = finite.double().max().expand(got.numel()) if finite.numel() else None
        return not bool(wrong_elements(got.reshape(-1), want.reshape(-1), self.allowance, scale).any())

    def explains(self, got: torch.Tensor, other: torch.Tensor, want: torch.Tensor) -> bool:
        """A tolerance may fit both ``other`` and ``want``."""
        import torch

        got, other, want = (values.reshape(-1) for values in (got, other, want))
        if not self.agrees(got, other) or self.agrees(want, other):
            return False
        if not want.is_floating_point():
            return True
        got, other, want = got.double(), other.double(), want.double()
        finite = torch.isfinite(got) & torch.isfinite(other) & torch.isfinite(want)
        if not bool(finite.any()):
            return True
        off, left = (got - want).abs()[finite].max(), (got - other).abs()[finite].max()
        return bool(left * _EXPLAINED <= off)


@dataclass(frozen=True)
class Pattern:
    kind: str
    #: True for any source.
    text: str
    #: Their meaning depends on the kind.
    number: float = 0
    names: tuple[str, ...] = ()


def matrix_of(result: Wrong, values: torch.Tensor) -> torch.Tensor | None:
    if len(result.shape) < 2 or values.numel() != math.prod(result.shape) or min(result.shape[-2:]) < 2:
        return None
    return values.reshape(-1, *result.shape[-2:])
