"""Finds the worst elements of a wrong result on the tensors' device, and copies only those."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader import limits
from grader.challenge.tolerance import Allowance, Unit
from grader.schemas.report import WorstElement

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Suspects:
    got: torch.Tensor
    want: torch.Tensor
    wrong: torch.Tensor
    poisoned: torch.Tensor | None = None
    #: See ``allowed_error``.
    magnitude: torch.Tensor | None = None

    def errors(self) -> torch.Tensor:
        return (self.got.double() - self.want.double()).abs()

    def comparable(self) -> torch.Tensor:
        """True for each wrong element with a finite error (bool, flat)."""
        import torch

        found = self.wrong & torch.isfinite(self.errors())
        return found if self.poisoned is None else found & ~self.poisoned


def _scale(want: torch.Tensor, magnitude: torch.Tensor | None) -> torch.Tensor:
    """``|want|``, or ``magnitude`` if finite (float64)."""
    import torch

    own = want.double().abs()
    return own if magnitude is None else torch.where(torch.isfinite(magnitude), magnitude.abs(), own)


def _ulps(scale: torch.Tensor, allowance: Allowance) -> torch.Tensor:
    """Units in the last place in the result's dtype (float64)."""
    import torch

    _, exponent = torch.frexp(scale.clamp(min=2.0**allowance.least_exponent))
    return torch.ldexp(torch.ones_like(scale), exponent - allowance.digits)


def allowed_error(
    want: torch.Tensor, allowance: Allowance, magnitude: torch.Tensor | None = None
) -> torch.Tensor:
    """The largest error that passes, per element (float64), for the scale ``|want|``, or ``magnitude`` if finite."""
    import torch

    if not want.is_floating_point():
        return torch.full(want.shape, float(allowance.steps), dtype=torch.float64, device=want.device)
    scale = _scale(want, magnitude)
    allowed = allowance.atol + allowance.rtol * scale
    return allowed + allowance.ulps * _ulps(scale, allowance) if allowance.ulps else allowed


def unit_sizes(
    want: torch.Tensor, allowance: Allowance, magnitude: torch.Tensor | None = None
) -> torch.Tensor | None:
    """The unit of errors, per element (float64); None without one."""
    import torch

    if allowance.unit is Unit.NONE:
        return None
    if allowance.unit is Unit.ULPS:
        return _ulps(_scale(want, magnitude), allowance)
    if allowance.scaled_step:
        return allowance.scaled_step * _scale(want, magnitude)
    return torch.full(want.shape, allowance.step, dtype=torch.float64, device=want.device)


def wrong_elements(
    got: torch.Tensor, want: torch.Tensor, allowance: Allowance, magnitude: torch.Tensor | None = None
) -> torch.Tensor:
    """True for each wrong element (bool, flat). Integers may differ by ``steps``, floats by ``allowed_error``. NaN
    passes if and only if NaN is right; infinities need the same sign."""
    import torch

    if not want.is_floating_point():
        return _steps_apart(got, want, allowance.steps) if allowance.steps else got != want
    got64, want64 = got.double(), want.double()
    finite = torch.isfinite(got64) & torch.isfinite(want64)
    near = finite & ((got64 - want64).abs() <= allowed_error(want64, allowance, magnitude))
    return ~(near | (got64 == want64) | (torch.isnan(got64) & torch.isnan(want64)))


def _steps_apart(got: torch.Tensor, want: torch.Tensor, steps: int) -> torch.Tensor:
    """Exact beyond the range of float64."""
    import torch

    if want.dtype is torch.uint64:  # torch does not compare it: map to int64 in the same order
        least = torch.iinfo(torch.int64).min
        got, want = got.view(torch.int64) ^ least, want.view(torch.int64) ^ least
    got, want = got.long(), want.long()
    apart = torch.maximum(got, want) - torch.minimum(got, want)
    return (apart < 0) | (apart > steps)  # negative: more than 2^63


def worst_elements(
    suspects: Suspects, shape: tuple[int, ...], allowance: Allowance | None = None, first_place: int = 0
) -> list[WorstElement]:
    """Worst first: without a finite error, then by error, then by place. Without an allowance, values must be exact.
    ``first_place``: the first suspect's flat place."""
    found = [(place, index_of(first_place + place, shape)) for place in _places(suspects)]
    return [_element(suspects, place, index, allowance) for place, index in found]


def _places(suspects: Suspects) -> Sequence[int]:
    import torch

    most = min(limits.WORST_ELEMENTS, int(suspects.wrong.sum()))
    if not most:
        return []
    infinite = torch.full((), math.inf, dtype=torch.float64, device=suspects.wrong.device)
    score = torch.where(suspects.comparable(), suspects.errors(), infinite)
    score = torch.where(suspects.wrong, score, -1.0)
    # topk may pick any of several equals.
    last = torch.topk(score, most).values[-1]
    above = torch.nonzero(score > last).reshape(-1)
    level = torch.nonzero(score == last).reshape(-1)[: most - above.numel()]
    above = above[torch.argsort(score[above], descending=True, stable=True)]
    return [int(place) for place in torch.cat((above, level)).tolist()]


def _element(suspects: Suspects, place: int, index: list[int], allowance: Allowance | None) -> WorstElement:
    got, want = suspects.got[place], suspects.want[place]
    unwritten = suspects.poisoned is not None and bool(suspects.poisoned[place])
    return WorstElement(
        index=index,
        got="never written" if unwritten else text_of(got),
        expected=text_of(want),
        error=None if unwritten else _finite(abs(got.item() - want.item())),
        allowed=_allowed(suspects, place, allowance),
        unit_size=_unit_size(suspects, place, allowance),
    )


def _allowed(suspects: Suspects, place: int, allowance: Allowance | None) -> float | None:
    want = suspects.want[place]
    if allowance is None:
        return 0.0
    if not math.isfinite(want.item()):
        return None
    return _finite(allowed_error(want, allowance, _magnitude(suspects, place)).item())


def _unit_size(suspects: Suspects, place: int, allowance: Allowance | None) -> float | None:
    want = suspects.want[place]
    if allowance is None or not math.isfinite(want.item()):
        return None
    sizes = unit_sizes(want, allowance, _magnitude(suspects, place))
    return None if sizes is None else _finite(sizes.item()) or None


def _magnitude(suspects: Suspects, place: int) -> torch.Tensor | None:
    return suspects.magnitude[place] if suspects.magnitude is not None else None


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def index_of(flat: int, shape: tuple[int, ...]) -> list[int]:
    index = []
    for dimension in reversed(shape):
        flat, place = divmod(flat, dimension)
        index.append(place)
    return index[::-1]


def place_of(index: Sequence[int], shape: tuple[int, ...]) -> int:
    flat = 0
    for place, dimension in zip(index, shape, strict=True):
        flat = flat * dimension + place
    return flat


def text_of(value: torch.Tensor) -> str:
    """Floats with nine significant digits, or ``nan``, ``inf`` and ``-inf``."""
    number = value.item()
    return f"{number:.9g}" if isinstance(number, float) else str(number)
