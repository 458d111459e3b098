"""Which elements of a wrong result are furthest off. Found where the tensors are: only those few are copied out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader import limits
from grader.challenge.model import Tolerance
from grader.schemas.report import WorstElement

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Suspects:
    """A flat result beside what is right. ``wrong`` marks what differs, ``poisoned`` what was never written,
    ``magnitude`` is what the tolerance is relative to, see ``allowed_error``."""

    got: torch.Tensor
    want: torch.Tensor
    wrong: torch.Tensor
    poisoned: torch.Tensor | None = None
    magnitude: torch.Tensor | None = None

    def errors(self) -> torch.Tensor:
        """|got - want| (float64, flat)."""
        return (self.got.double() - self.want.double()).abs()

    def comparable(self) -> torch.Tensor:
        """Where a wrong element has an error that is a finite number (bool, flat)."""
        import torch

        found = self.wrong & torch.isfinite(self.errors())
        return found if self.poisoned is None else found & ~self.poisoned


def allowed_error(
    want: torch.Tensor, tolerance: Tolerance, magnitude: torch.Tensor | None = None
) -> torch.Tensor:
    """``atol + rtol * magnitude`` for floats ``want``. ``magnitude`` is ``|want|`` unless it is given and finite."""
    import torch

    own = want.double().abs()
    scale = own if magnitude is None else torch.where(torch.isfinite(magnitude), magnitude.abs(), own)
    return tolerance.atol + tolerance.rtol * scale


def wrong_elements(
    got: torch.Tensor, want: torch.Tensor, tolerance: Tolerance, magnitude: torch.Tensor | None = None
) -> torch.Tensor:
    """Which elements are wrong (bool, flat). Integers must be equal. A float passes when
    ``|got - want| <= atol + rtol * magnitude``; NaN passes where and only where NaN is right; infinities need the
    same sign. ``magnitude`` is ``|want|`` unless given."""
    import torch

    if not want.is_floating_point():
        return got != want
    got64, want64 = got.double(), want.double()
    finite = torch.isfinite(got64) & torch.isfinite(want64)
    near = finite & ((got64 - want64).abs() <= allowed_error(want64, tolerance, magnitude))
    return ~(near | (got64 == want64) | (torch.isnan(got64) & torch.isnan(want64)))


def worst_elements(
    suspects: Suspects, shape: tuple[int, ...], tolerance: Tolerance | None = None, first_place: int = 0
) -> list[WorstElement]:
    """At most ``limits.WORST_ELEMENTS``, the worst first: what has no finite error ahead of all, then by error;
    equals by their place. Without a tolerance, and of integers, nothing but the very value is allowed. ``first_place``:
    where the suspects begin in the result of that ``shape``, flat."""
    found = [(place, index_of(first_place + place, shape)) for place in _places(suspects)]
    return [_element(suspects, place, index, tolerance) for place, index in found]


def _places(suspects: Suspects) -> Sequence[int]:
    import torch

    most = min(limits.WORST_ELEMENTS, int(suspects.wrong.sum()))
    if not most:
        return []
    infinite = torch.full((), math.inf, dtype=torch.float64, device=suspects.wrong.device)
    score = torch.where(suspects.comparable(), suspects.errors(), infinite)
    score = torch.where(suspects.wrong, score, -1.0)
    # Which of several equals a device picks is not said: those above the last are taken, and the first of its equals.
    last = torch.topk(score, most).values[-1]
    above = torch.nonzero(score > last).reshape(-1)
    level = torch.nonzero(score == last).reshape(-1)[: most - above.numel()]
    above = above[torch.argsort(score[above], descending=True, stable=True)]
    return [int(place) for place in torch.cat((above, level)).tolist()]


def _element(suspects: Suspects, place: int, index: list[int], tolerance: Tolerance | None) -> WorstElement:
    got, want = suspects.got[place], suspects.want[place]
    unwritten = suspects.poisoned is not None and bool(suspects.poisoned[place])
    return WorstElement(
        index=index,
        got="never written" if unwritten else text_of(got),
        expected=text_of(want),
        error=None if unwritten else _finite(abs(got.item() - want.item())),
        allowed=_allowed(suspects, place, tolerance),
    )


def _allowed(suspects: Suspects, place: int, tolerance: Tolerance | None) -> float | None:
    want = suspects.want[place]
    if tolerance is None or not want.is_floating_point():
        return 0.0
    if not math.isfinite(want.item()):
        return None
    magnitude = suspects.magnitude[place] if suspects.magnitude is not None else None
    return _finite(allowed_error(want, tolerance, magnitude).item())


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def index_of(flat: int, shape: tuple[int, ...]) -> list[int]:
    """The row-major index of a flat place, one number per dimension."""
    index = []
    for dimension in reversed(shape):
        flat, place = divmod(flat, dimension)
        index.append(place)
    return index[::-1]


def text_of(value: torch.Tensor) -> str:
    """One element as a report holds it: floats in nine significant digits, ``nan``, ``inf`` and ``-inf`` as words."""
    number = value.item()
    return f"{number:.9g}" if isinstance(number, float) else str(number)
