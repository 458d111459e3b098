"""What the example of a new challenge computes: something of the right shape and type that every wrong kernel misses.

An element of a result is made from one element of an input: the one at the same place where the shapes are the same,
else counted from the input's end, repeated. Floats are doubled and integers have their bits inverted, both exactly
in every precision, so the example needs no tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass

from grader.challenge.model import Argument, DType, Kind, Manifest


@dataclass(frozen=True)
class Formula:
    """``result`` is made from ``source``; of an inout without a better source, from itself."""

    result: Argument
    source: Argument

    @property
    def in_place(self) -> bool:
        """Whether result and source lie at the same places."""
        return self.result.shape == self.source.shape

    @property
    def doubles(self) -> bool:
        return self.result.dtype.floating and self.source.dtype.floating and not self.asks

    @property
    def converts(self) -> bool:
        """From integers to floats: the number itself."""
        return self.result.dtype.floating and not self.source.dtype.floating

    @property
    def asks(self) -> bool:
        """1 where a float is positive, else 0: for integers, and for bfloat16, to which Triton's interpreter does not
        round as PyTorch does."""
        narrowed = self.result.dtype is DType.BFLOAT16 and self.source.dtype is not DType.BFLOAT16
        return self.source.dtype.floating and (narrowed or not self.result.dtype.floating)

    @property
    def words(self) -> str:
        """``2 * x[i]``, and what that index is."""
        index = "[i]" if self.in_place else "[last - i]"
        value = f"{self.source.name}{index}"
        if self.doubles:
            return f"2 * {value}"
        if self.converts:
            return value
        return f"1 if {value} > 0 else 0" if self.asks else f"~{value}"

    def value(self, number: float) -> float:
        """The result's element of a source's ``number``, for the spec's example."""
        if self.doubles:
            return 2 * number
        if self.converts:
            return number
        if self.asks:
            return int(number > 0)
        return ~int(number) & 0xFF if self.result.dtype is DType.UINT8 else ~int(number)


def formulas(manifest: Manifest) -> list[Formula]:
    """One for each result, in the order of the signature."""
    return [Formula(arg, _source(manifest, arg)) for arg in manifest.results]


def _source(manifest: Manifest, result: Argument) -> Argument:
    """The result itself if it is an inout, else the input that is most like it."""
    if result.kind is Kind.INOUT:
        return result
    readable = [arg for arg in manifest.buffers if arg.kind is not Kind.OUTPUT]
    return max(readable, key=lambda it: (it.dtype is result.dtype, it.shape == result.shape))
