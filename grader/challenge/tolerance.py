"""``[tolerance]`` and ``[tolerance.NAME]`` of ``challenge.toml``. All comparisons use ``Allowance``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Protocol, Self

from pydantic import Field, SerializerFunctionWrapHandler, field_validator, model_serializer, model_validator

from grader.challenge.dtypes import DType
from grader.challenge.expression import parse
from grader.formats import in_units
from grader.schemas.strict import Strict

# A step of bool allows every answer; uint64, held as int64, has its ends elsewhere.
WITHOUT_STEPS = (DType.BOOL, DType.UINT64)
# Floats are rounded to the nearer whole number of steps.
_HALF_STEP = 0.5


class Result(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def dtype(self) -> DType: ...


class Unit(StrEnum):
    """For people. ``NONE``: the result's numbers."""

    NONE = ""
    ULPS = "ulps"
    STEPS = "steps"


class Tolerance(Strict, allow_inf_nan=False):
    """A value passes when |got - oracle| <= atol + rtol * magnitude. Integer outputs are exact without it."""

    atol: float = Field(default=0.0, ge=0, lt=1)
    rtol: float = Field(default=0.0, ge=0, lt=1)


class ResultTolerance(Tolerance):
    """Relative and absolute, in units in the last place, or in steps of a quantiser."""

    ulps: float | None = Field(default=None, gt=0, le=2**20, description="in units in the last place")
    steps: int | None = Field(default=None, ge=0, le=2**20, description="in steps of a quantiser")
    step: float | str | None = Field(
        default=None,
        description="of a float: the size of a step as a number, as an expression in sizes and scalars, or the name of "
        "an input or result that holds it",
    )
    block: int = Field(
        default=1, ge=1, description="elements of the last dimension of the step's argument that share one"
    )

    @field_validator("step")
    @classmethod
    def _step_is_an_expression(cls, step: float | str | None) -> float | str | None:
        if isinstance(step, str):
            parse(step)
        elif step is not None and step <= 0:
            raise ValueError("a step is larger than 0")
        return step

    @model_validator(mode="after")
    def _one_unit(self) -> Self:
        if self.ulps is not None and (self.rtol or self.steps is not None):
            raise ValueError("give ulps (and atol, if errors near 0 need it), without rtol and steps")
        if self.steps is not None and (self.atol or self.rtol):
            raise ValueError("give steps alone, without atol and rtol")
        if self.steps is None and (self.step is not None or self.block != 1):
            raise ValueError("step and block say how large one of `steps` is: give steps, too")
        return self

    @property
    def unit(self) -> Unit:
        return Unit.ULPS if self.ulps is not None else Unit.STEPS if self.steps is not None else Unit.NONE


@dataclass(frozen=True)
class Allowance:
    """``atol + rtol * scale + ulps * ulp(scale)`` for floats, where ``scale`` is an element's magnitude;
    ``steps`` for integers.
    """

    atol: float = 0.0
    rtol: float = 0.0
    ulps: float = 0.0
    #: Of an integer result.
    steps: int = 0
    unit: Unit = Unit.NONE
    #: The size of a unit: the same everywhere, or times an element's scale.
    step: float = 0.0
    scaled_step: float = 0.0
    #: Of the result's dtype: what an ulp depends on.
    digits: int = 53
    least_exponent: int = -1022

    @property
    def tolerant(self) -> bool:
        return bool(self.atol or self.rtol or self.ulps or self.steps)

    @property
    def relative(self) -> float:
        """About what share of its scale a value may be off; 0 if unknown."""
        return 0.0 if self.unit is Unit.STEPS else self.rtol + self.ulps * 2.0**-self.digits


class Tolerances(Tolerance):
    results: Mapping[str, ResultTolerance] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _tables_are_results(cls, data: object) -> object:
        """In TOML, ``[tolerance.NAME]`` is a key of ``[tolerance]``."""
        if not isinstance(data, Mapping):
            return data
        tables = {name: value for name, value in data.items() if isinstance(value, dict | ResultTolerance)}
        return {**{name: value for name, value in data.items() if name not in tables}, "results": tables}

    # A return type would replace the fields in the OpenAPI document.
    @model_serializer(mode="wrap")
    def _as_written(self, serialize: SerializerFunctionWrapHandler):  # type: ignore[no-untyped-def]
        said: dict[str, Any] = serialize(self)
        return {
            **{name: value for name, value in said.items() if name != "results"},
            **said.get("results", {}),
        }

    def of(self, arg: Result) -> Tolerance:
        return self.results.get(arg.name, self)

    def allowance(self, arg: Result, values: Mapping[str, float]) -> Allowance:
        """``values``: sizes and scalars. Raises ExpressionError."""
        own = self.of(arg)
        if not arg.dtype.floating:
            steps = own.steps if isinstance(own, ResultTolerance) else None
            unit = Unit.NONE if steps is None else Unit.STEPS
            return Allowance(steps=steps or 0, unit=unit, step=1.0)
        facts = arg.dtype.as_float
        of_type = Allowance(digits=facts.digits, least_exponent=facts.least_exponent)
        if not isinstance(own, ResultTolerance) or own.unit is Unit.NONE:
            return replace(of_type, atol=own.atol, rtol=own.rtol)
        if own.steps is None:
            return replace(of_type, atol=own.atol, ulps=own.ulps or 0.0, unit=own.unit)
        allowed = own.steps + _HALF_STEP
        if own.step is None or step_argument(own, values) is not None:
            return replace(of_type, rtol=allowed, unit=own.unit, scaled_step=1.0)
        step = abs(own.step if isinstance(own.step, float) else parse(own.step)(values))
        return replace(of_type, atol=allowed * step, unit=own.unit, step=step)

    def relative(self, arg: Result) -> float:
        """See ``Allowance.relative``; the ``rtol`` of ``[tolerance]`` for a result without a table."""
        own = self.of(arg)
        if not isinstance(own, ResultTolerance) or not arg.dtype.floating:
            return own.rtol
        return own.rtol + (own.ulps or 0.0) * 2.0**-arg.dtype.as_float.digits

    def loosest(self, results: Sequence[Result]) -> float:
        return max((self.relative(arg) for arg in results), default=self.rtol)

    def sentence(self, arg: Result) -> str:
        """For people, for example ``3 ulps``; empty if it must be exact."""
        own = self.of(arg)
        if isinstance(own, ResultTolerance) and own.unit is Unit.STEPS:
            of = ""
            if own.step is not None:
                blocks = f", one for {own.block} elements" if own.block > 1 else ""
                of = f" of {own.step:g}" if isinstance(own.step, float) else f" of {own.step}{blocks}"
            return in_units(own.steps or 0, Unit.STEPS) + of
        if not arg.dtype.floating:
            return ""
        if isinstance(own, ResultTolerance) and own.ulps is not None:
            return in_units(own.ulps, Unit.ULPS) + (f" + {own.atol:g}" if own.atol else "")
        parts = [f"{own.atol:g}"] if own.atol else []
        parts += [f"{own.rtol:g} × magnitude"] if own.rtol else []
        return " + ".join(parts)


def step_argument(own: ResultTolerance, values: Mapping[str, float]) -> str | None:
    named = isinstance(own.step, str) and own.step.isidentifier() and own.step not in values
    return str(own.step) if named else None
