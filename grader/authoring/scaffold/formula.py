"""What the example of a new challenge computes.

Each element of a result comes from one element of an input: at the same place if the shapes are equal, else counted
from the input's end, repeating. Floats are doubled, integers inverted, and an integer that becomes a float gives its
highest 8 bits: exact in every precision, so the example needs no tolerance, and no wrong kernel gets it right.
"""

from __future__ import annotations

from dataclasses import dataclass

from grader.challenge.dtypes import DType
from grader.challenge.model import Argument, Kind, Manifest


@dataclass(frozen=True)
class Formula:
    """``result`` comes from ``source``, which may be the same inout."""

    result: Argument
    source: Argument

    @property
    def in_place(self) -> bool:
        return self.result.shape == self.source.shape

    @property
    def doubles(self) -> bool:
        return self.result.dtype.floating and self.source.dtype.floating and not self.asks

    @property
    def converts(self) -> bool:
        """From integers to floats: the highest 8 bits, exact in every float type."""
        return self.result.dtype.floating and not self.source.dtype.floating

    @property
    def shift(self) -> int:
        return 8 * self.source.dtype.itemsize - 8

    @property
    def asks(self) -> bool:
        """1 if a float is positive, else 0: for integer results, and for float types to which Triton's interpreter does
        not round as PyTorch does: bfloat16 and, from float64, float16."""
        pair = (self.source.dtype, self.result.dtype)
        narrowed = pair[1] is DType.BFLOAT16 and pair[0] is not DType.BFLOAT16
        narrowed = narrowed or pair == (DType.FLOAT64, DType.FLOAT16)
        return self.source.dtype.floating and (narrowed or not self.result.dtype.floating)

    @property
    def words(self) -> str:
        """Such as ``2 * x[i]``."""
        index = "[i]" if self.in_place else "[last - i]"
        value = f"{self.source.name}{index}"
        if self.doubles:
            return f"2 * {value}"
        if self.converts:
            return f"{value} >> {self.shift}" if self.shift else value
        return f"1 if {value} > 0 else 0" if self.asks else f"~{value}"

    def value(self, number: float) -> float:
        if self.doubles:
            return 2 * number
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
    """One per result, in signature order."""
    return [Formula(arg, _source(manifest, arg)) for arg in manifest.results]


def _source(manifest: Manifest, result: Argument) -> Argument:
    """The result itself if it is an inout, else the most similar input."""
    if result.kind is Kind.INOUT:
        return result
    readable = [arg for arg in manifest.given if not arg.optional]
    return max(readable, key=lambda arg: (arg.dtype is result.dtype, arg.shape == result.shape))
