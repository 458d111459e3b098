"""The example that a new challenge computes.

A result's element comes from an input's: at the same place if the shapes are equal, else counted from the
end, repeating. Floats are doubled, integers inverted, and an integer that becomes a float gives its highest 8
bits. All are exact, so no tolerance hides a wrong kernel.
"""

from __future__ import annotations

from dataclasses import dataclass

from grader.challenge.dtypes import DType
from grader.challenge.model import Argument, Kind, Manifest
from grader.errors import BadRequest


@dataclass(frozen=True)
class Formula:
    """``source`` may be the same inout as ``result``."""

    result: Argument
    source: Argument

    @property
    def in_place(self) -> bool:
        return self.result.shape == self.source.shape

    @property
    def bytewise(self) -> bool:
        """Both are packed: each byte negates or inverts the source's two numbers."""
        return self.source.dtype.packed and self.source.dtype is self.result.dtype

    @property
    def negates(self) -> bool:
        return self.source.dtype is DType.BOOL and not self.result.dtype.floating

    @property
    def flip(self) -> int:
        return 0x88 if self.result.dtype.floating else 0xFF

    @property
    def doubles(self) -> bool:
        floats = self.result.dtype.floating and self.source.dtype.floating
        return floats and not self.asks and not self.bytewise

    @property
    def converts(self) -> bool:
        """From integers to floats: the highest 8 bits."""
        floats = self.result.dtype.floating and not self.source.dtype.floating
        return floats and not self.asks

    @property
    def shift(self) -> int:
        return 8 * self.source.dtype.itemsize - 8

    @property
    def asks(self) -> bool:
        """1 if positive, else 0: for integers, and floats to which Triton's interpreter rounds unlike PyTorch
        (bfloat16 and, from float64, float16).
        """
        pair = (self.source.dtype, self.result.dtype)
        narrowed = pair[1] is DType.BFLOAT16 and pair[0] is not DType.BFLOAT16
        narrowed = narrowed or pair == (DType.FLOAT64, DType.FLOAT16)
        small = self.result.dtype.floating and self.result.dtype.encoded and pair[0] is not pair[1]
        asked = self.source.dtype.floating and (narrowed or not self.result.dtype.floating)
        return not self.bytewise and (asked or small or self.source.dtype.packed)

    @property
    def words(self) -> str:
        """Such as ``2 * x[i]``."""
        index = "[i]" if self.in_place else "[last - i]"
        value = f"{self.source.name}{index}"
        if self.doubles:
            return f"2 * {value}"
        if self.bytewise and self.result.dtype.floating:
            return f"-{value}"
        if self.negates:
            return f"not {value}"
        if self.converts:
            return f"{value} >> {self.shift}" if self.shift else value
        return f"1 if {value} > 0 else 0" if self.asks else f"~{value}"

    def value(self, number: float) -> float:
        if self.doubles:
            return 2 * number
        if self.bytewise:
            return -number if self.result.dtype.floating else ~int(number)
        if self.negates:
            return int(not number)
        if self.result.dtype is DType.BOOL and not self.asks:
            return int(~int(number) != 0)
        if self.converts:
            return int(number) >> self.shift
        if self.asks:
            return int(number > 0)
        return _wrapped(_wrapped(~int(number), self.source.dtype), self.result.dtype)


def _wrapped(number: int, dtype: DType) -> int:
    bits = 8 * dtype.itemsize
    number &= (1 << bits) - 1
    negative = dtype.as_integer.signed and number >> (bits - 1)
    return number - (1 << bits) if negative else number


def formulas(manifest: Manifest) -> list[Formula]:
    """In signature order. Raises BadRequest if a type has no example."""
    made = [Formula(arg, _source(manifest, arg)) for arg in manifest.results]
    for formula in made:
        source, result = formula.source, formula.result
        same = source.dtype is result.dtype and formula.in_place
        if (_alone(result.dtype) or (_alone(source.dtype) and not source.dtype.packed)) and not same:
            raise BadRequest(
                f"The example has nothing to make '{result.name}' of: {result.dtype} from {source.dtype} "
                f"'{source.name}'.",
                f"Begin with float32 in place of {', '.join(sorted({source.dtype, result.dtype} - {'float32'}))}, and "
                "change `dtype` in challenge.toml and your files.",
            )
    return made


def _alone(dtype: DType) -> bool:
    return dtype.packed or dtype.complex or (dtype.floating and not dtype.as_float.signed)


def _source(manifest: Manifest, result: Argument) -> Argument:
    """An inout itself, else the most similar input."""
    if result.kind is Kind.INOUT:
        return result
    return max(
        (arg for arg in manifest.given if not arg.optional),
        key=lambda arg: (
            arg.dtype is result.dtype and (arg.shape == result.shape or not _alone(arg.dtype)),
            not _alone(arg.dtype),
            arg.shape == result.shape,
        ),
    )
