"""Measures the error of the reference's own precision, case by case, and proposes a tolerance.

Native: on the inputs as drawn. Exact: on float64 copies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader.authoring.checked import accepted
from grader.authoring.findings import check, unless_waived
from grader.challenge.cases import Case
from grader.challenge.loader import Challenge
from grader.challenge.model import Argument
from grader.challenge.numbers import of_reference
from grader.challenge.tolerance import Tolerance, Unit
from grader.formats import in_units
from grader.judge.compare import counted
from grader.judge.oracle import OUTPUT, Question, arguments, ask, scalar_values
from grader.judge.worst import allowed_error, unit_sizes
from grader.schemas.proof import Check, Status

if TYPE_CHECKING:
    import torch

_SEED = 11
_AS_LARGE = 0.9
SEVERAL = (
    "native and float64 differ by as much as the answer: if several answers are right (signs, ties, a basis), "
    "a check.py next to reference.py decides; otherwise define magnitude(...), or change the inputs"
)
# PyTorch may use half of the tolerance: an equally exact kernel may sum in another order.
HEADROOM = 2.0
# A hand-written kernel errs up to twice as much as PyTorch; the rest is HEADROOM.
MARGIN = 4.0
# For results of at most 16 bits, whose error is one rounding.
_NARROW_MARGIN, _NARROW_BYTES = 2.5, 2
# Above this many proposals, rounding cannot explain a tolerance.
LOOSE = 50.0
# A relative error above this many ulps comes from cancelling terms, in results below this share of the case's
# largest.
_CANCELLED, _SMALL = 1024.0, 0.1
# Share of the largest result: a larger atol would accept every ordinary answer.
_ORDINARY = 1e4
_CANCELLING = (
    "results near 0, where terms of either sign cancel, err by much of their own size: the proposed atol is for them. "
    "Or let magnitude(...) in reference.py return the same operation on absolute values, and keep atol near 0"
)
# Denormal numbers have cost digits below this.
_DEEP = 1e-20
# Steps of a quantiser come from ties: an exact kernel is off by as many.
LOOSE_STEPS = 4


@dataclass(frozen=True)
class MeasuredErrors:
    """Finite elements only. If the tolerance has a ``unit``, ``relative`` and ``absolute`` are 0."""

    case: str
    result: str
    used: float
    relative: float  # relative, of normal numbers
    absolute: float  # of the others
    unit: Unit = Unit.NONE
    units: float = 0.0
    margin: float = MARGIN
    # If terms cancelled: the largest relative error of large elements, and the largest of others.
    cancelled: bool = False
    large: float = 0.0
    small: float = 0.0


@dataclass(frozen=True)
class Calibration:
    measured: list[MeasuredErrors]
    disagreements: list[str]

    @property
    def proposed(self) -> Tolerance:
        """``margin`` times the largest native errors. If terms cancelled, ``rtol`` is for large results,
        ``atol`` for the others.
        """
        apart = any(error.cancelled for error in self.measured)
        relative = [error.margin * (error.large if apart else error.relative) for error in self.measured]
        absolute = [
            error.margin * max(error.absolute, error.small if apart else 0.0) for error in self.measured
        ]
        return Tolerance(
            atol=min(round_up(max(absolute, default=0.0)), 0.9),
            rtol=min(round_up(max(relative, default=0.0)), 0.9),
        )

    @property
    def is_hopeless(self) -> bool:
        """Native and float64 differ by as much as the answer."""
        return self.proposed.rtol >= _AS_LARGE

    def proposed_units(self, result: str) -> float:
        """At least 1 ulp; for steps, as many as were found."""
        found = [error for error in self.measured if error.result == result]
        most = max((error.units for error in found), default=0.0)
        if any(error.unit is Unit.STEPS for error in found):
            return most
        return max(1.0, math.ceil(MARGIN * most - 1e-9))


def calibrate(challenge: Challenge, cases: Iterable[Case], device: str, draw_on: str = "cpu") -> Calibration:
    """``device``: "cpu" or "cuda"; inputs are drawn on ``draw_on``. Raises ChallengeInvalid if the reference
    fails.
    """
    measured: list[MeasuredErrors] = []
    disagreements: list[str] = []
    for case in cases:
        question = ask(challenge, case, _SEED, device, draw_on)
        found, problems = compare(challenge, case, question, challenge.reference.compute)
        measured += found
        disagreements += problems
    return Calibration(measured, disagreements)


def compare(
    challenge: Challenge, case: Case, question: Question, compute: Callable[..., Any]
) -> tuple[list[MeasuredErrors], list[str]]:
    """Results that only ``check.py`` calls right count for nothing: their distance is no error."""
    native = native_results(challenge, case, question, compute)
    measured: list[MeasuredErrors] = []
    disagreements: list[str] = []
    for arg in challenge.manifest.results:
        found, problems = _measure(challenge, case, arg, question, native[arg.name])
        measured += found
        disagreements += problems
    if (disagreements or any(map(_is_tight, measured))) and accepted(question, native):
        return [error for error in measured if not _is_tight(error)], []
    return measured, disagreements


def _is_tight(error: MeasuredErrors) -> bool:
    """An equally exact kernel might fail."""
    return error.used > (1.0 if error.unit is Unit.STEPS else 1 / HEADROOM)


def native_results(
    challenge: Challenge, case: Case, question: Question, compute: Callable[..., Any]
) -> dict[str, torch.Tensor]:
    """The results are flat, in their own dtypes."""
    manifest = challenge.manifest
    given = {name: values.clone() for name, values in question.inputs.items()}
    answer = compute(**arguments(manifest, case, given))
    answers = answer if isinstance(answer, tuple) else (answer,)
    return {
        arg.name: OUTPUT.rounded(arg, of_reference(answer.detach(), arg.dtype)).reshape(-1)
        for arg, answer in zip(manifest.results, answers, strict=True)
    }


def _measure(
    challenge: Challenge, case: Case, arg: Argument, question: Question, native: torch.Tensor
) -> tuple[list[MeasuredErrors], list[str]]:
    import torch

    where = f"{case.name}: {arg.name}"
    exact = question.outputs[arg.name].reshape(-1)
    number = counted(challenge.manifest, arg, question, exact.numel())
    native, exact = native[:number], exact[:number]
    allowance = challenge.manifest.allowance(arg, case.sizes, scalar_values(challenge.manifest, case))
    magnitude = question.magnitudes.get(arg.name)
    scale = None if magnitude is None else magnitude.reshape(-1)[:number].double()
    if not exact.is_floating_point():
        if allowance.unit is Unit.STEPS:
            apart = (native.double() - exact.double()).abs()
            most = float(apart.max()) if number else 0.0
            used = most / allowance.steps if allowance.steps else math.inf if most else 0.0
            return [MeasuredErrors(case.name, arg.name, used, 0.0, 0.0, allowance.unit, most)], []
        return [], [] if torch.equal(native, exact) else [
            f"{where}: native and float64 differ; integers are exact"
        ]
    same_kind = (native.isnan() == exact.isnan()) & (native.isinf() == exact.isinf())
    same_sign = ~exact.isinf() | ~same_kind | (native == exact)
    if bad := int((~(same_kind & same_sign)).sum()):
        return [], [f"{where}: native and float64 disagree on NaN or infinity in {bad} of {number} elements"]
    finite = exact.isfinite()
    if not bool(finite.any()):
        return [], []
    error = (native.double() - exact.double()).abs()[finite]
    allowed = allowed_error(exact, allowance, scale)[finite]
    used = float(torch.where(error > 0, error / allowed, 0.0).max())
    units = unit_sizes(exact, allowance, scale)
    if units is not None:
        counted_in = torch.where(error > 0, error / units[finite], 0.0)
        if allowance.unit is Unit.STEPS:
            counted_in = counted_in.round()
        return [
            MeasuredErrors(case.name, arg.name, used, 0.0, 0.0, allowance.unit, float(counted_in.max()))
        ], []
    own = exact.double().abs()
    own = own if scale is None else torch.where(scale.isfinite(), scale.abs(), own)
    return [_errors(case, arg, used, error, own[finite])], []


def _errors(
    case: Case, arg: Argument, used: float, error: torch.Tensor, scale: torch.Tensor
) -> MeasuredErrors:
    facts = arg.dtype.as_float
    deep = facts.smallest_normal * 2.0**facts.digits
    normal = scale >= (deep if deep < _DEEP else facts.smallest_normal)
    relative = error / scale
    large = normal & (scale >= _SMALL * scale.max())
    return MeasuredErrors(
        case.name,
        arg.name,
        used,
        relative=_most(relative[normal]),
        absolute=_most(error[~normal]),
        margin=_NARROW_MARGIN if arg.dtype.itemsize <= _NARROW_BYTES else MARGIN,
        cancelled=_most(relative[normal]) > _CANCELLED * 2.0**-facts.digits,
        large=_most(relative[large]),
        small=_most(error[normal & ~large]) if scale.max() <= _ORDINARY else 0.0,
    )


def _most(values: torch.Tensor) -> float:
    return float(values.max()) if values.numel() else 0.0


def calibration_checks(challenge: Challenge, found: Calibration, *, loose: bool) -> list[Check]:
    """``reference``: native and exact agree on which elements are finite. ``tolerance``: not too tight and,
    with ``loose``, not too loose. One kind of device asks for that: another may need more.
    """
    agreed = f"float64 and native precision agree in kind on all {_cases(challenge)} cases"
    reference = check("reference", found.disagreements, agreed, bad=Status.ERROR)
    return [reference, _tolerance(challenge, found, loose)]


def _tolerance(challenge: Challenge, found: Calibration, loose: bool) -> Check:
    manifest = challenge.manifest
    own = manifest.tolerance.results
    if not own and not any(arg.dtype.floating for arg in manifest.results):
        return Check(name="tolerance", status=Status.OK, summary="integers are compared exactly")
    said = "; ".join(_set_and_proposed(challenge, found))
    if tight := too_tight(found):
        hint = [_CANCELLING] if any(error.cancelled for error in found.measured) else []
        return check("tolerance", [f"too tight; {said}", *tight, *hint], "", bad=Status.ERROR)
    if loose and (reason := _too_loose(challenge, found)):
        weak = check("tolerance", [f"too loose: {reason}; {said}"], "")
        return unless_waived(weak, challenge.manifest.waives.get("tolerance"))
    summary = f"native uses at most {_most_used(found):.2g} of it; {said}"
    return Check(name="tolerance", status=Status.OK, summary=summary)


def _set_and_proposed(challenge: Challenge, found: Calibration) -> list[str]:
    tolerance, results = challenge.manifest.tolerance, challenge.manifest.results
    said = []
    if any(arg.dtype.floating and arg.name not in tolerance.results for arg in results):
        said.append(f"set: {_text(tolerance)}; proposed: {_text(found.proposed)}")
    for arg in results:
        own = tolerance.results.get(arg.name)
        if own is None:
            continue
        if own.unit is Unit.NONE:
            measured = [error for error in found.measured if error.result == arg.name]
            proposed = _text(Calibration(measured, []).proposed)
        else:
            proposed = in_units(found.proposed_units(arg.name), own.unit)
        said.append(f"{arg.name}: set: {tolerance.sentence(arg) or 'exact'}; proposed: {proposed}")
    if found.is_hopeless and challenge.checker is None:
        said.append(SEVERAL)
    return said


def _most_used(found: Calibration) -> float:
    return max((error.used for error in found.measured), default=0.0)


def _too_loose(challenge: Challenge, found: Calibration) -> str:
    """PyTorch's error counts as at least one rounding to the dtype."""
    for arg in challenge.manifest.results:
        if reason := _too_loose_for(challenge, arg, found):
            return reason
    used = max((error.used for error in found.measured if error.unit is not Unit.STEPS), default=0.0)
    if 0 < used < 1 / (LOOSE * MARGIN):
        return f"native uses {used:.1g} of the allowed error, under 1/{LOOSE * MARGIN:g}"
    return ""


def _too_loose_for(challenge: Challenge, arg: Argument, found: Calibration) -> str:
    tolerance = challenge.manifest.tolerance
    own = tolerance.results.get(arg.name)
    if own is not None and own.unit is not Unit.NONE:
        set_to, proposed = own.ulps or own.steps or 0, found.proposed_units(arg.name)
        times = LOOSE if own.unit is Unit.ULPS else LOOSE_STEPS
        if set_to > times * max(proposed, 1.0):
            return f"{arg.name}: {in_units(set_to, own.unit)} are over {times:g} times what native needs"
        return ""
    if not arg.dtype.floating:
        return ""
    alike = [
        error
        for error in found.measured
        if (error.result == arg.name if own is not None else error.result not in tolerance.results)
    ]
    rtol = tolerance.of(arg).rtol
    if rtol > LOOSE * max(Calibration(alike, []).proposed.rtol, _unit(challenge)):
        return f"{arg.name + ': ' if own is not None else ''}rtol is over {LOOSE:g} times what native needs"
    return ""


def too_tight(found: Calibration) -> list[str]:
    tight = [error for error in found.measured if _is_tight(error)]
    return [
        f"{error.case}: {error.result}: native PyTorch uses {error.used:.2f} of the allowed error, "
        f"more than 1/{HEADROOM:g}"
        for error in tight
        if error.unit is not Unit.STEPS
    ] + [
        f"{error.case}: {error.result}: native PyTorch is off by {in_units(error.units, error.unit)}, more than is "
        "allowed"
        for error in tight
        if error.unit is Unit.STEPS
    ]


def _unit(challenge: Challenge) -> float:
    """Half a unit in the last place of the least exact result."""
    return max(2.0**-arg.dtype.as_float.digits for arg in challenge.manifest.results if arg.dtype.floating)


def _cases(challenge: Challenge) -> int:
    return sum(case.on is None for case in [*challenge.cases, *challenge.hidden_cases])


def round_up(value: float) -> float:
    if value <= 0 or not math.isfinite(value):
        return 0.0
    step = 10.0 ** math.floor(math.log10(value))
    return float(f"{math.ceil(value / step - 1e-9) * step:.0e}")


def _text(tolerance: Tolerance) -> str:
    return f"atol = {tolerance.atol:g}, rtol = {tolerance.rtol:g}"
