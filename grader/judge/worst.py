"""Finds the worst elements of a wrong result on the tensors' device; only those few are copied."""

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
    got: torch.Tensor
    want: torch.Tensor
    #: True for each wrong element.
    wrong: torch.Tensor
    #: True for each element that was never written.
    poisoned: torch.Tensor | None = None
    #: The scale of the tolerance, see ``allowed_error``.
    magnitude: torch.Tensor | None = None

    def errors(self) -> torch.Tensor:
        return (self.got.double() - self.want.double()).abs()

    def comparable(self) -> torch.Tensor:
        """True for each wrong element with a finite error (bool, flat)."""
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
    """True for each wrong element (bool, flat). Integers must be equal. A float passes if
    ``|got - want| <= atol + rtol * magnitude``; NaN passes if and only if NaN is right; infinities need the same sign.
    ``magnitude`` is ``|want|`` unless given."""
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
    """At most ``limits.WORST_ELEMENTS``, worst first: elements without a finite error, then by error, then by place.
    Without a tolerance, and for integers, only the exact value is allowed. ``first_place``: the flat place of the first
    suspect in the result of that ``shape``."""
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
    # topk may pick any of several equals: take those above the last, then the first ones equal to it.
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
    index = []
    for dimension in reversed(shape):
        flat, place = divmod(flat, dimension)
        index.append(place)
    return index[::-1]


def place_of(index: Sequence[int], shape: tuple[int, ...]) -> int:
    """The flat place of an index."""
    flat = 0
    for place, dimension in zip(index, shape, strict=True):
        flat = flat * dimension + place
    return flat


def text_of(value: torch.Tensor) -> str:
    """One element as text: floats with nine significant digits, or ``nan``, ``inf`` and ``-inf``."""
    number = value.item()
    return f"{number:.9g}" if isinstance(number, float) else str(number)
