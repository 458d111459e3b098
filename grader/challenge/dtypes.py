"""The dtypes of arguments: one table, one row per dtype, with every fact that depends on it.

To add a dtype, add its name to ``DType`` and its row to ``_FACTS``. Code inside a box cannot import this module:
``tests/challenge/test_dtypes.py`` compares the tables there with this one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, kw_only=True)
class Facts:
    itemsize: int  # bytes of one element
    c_type: str  # in the signature of solve
    built_in: str = ""  # the same without any header, as 64-bit Linux defines it; empty: c_type is built in
    header: str = ""  # the CUDA header that defines c_type; empty: <cstdint>, or none
    scalar: bool = True  # a scalar may have it: one element has bytes of its own and is one number
    rate_as: str = ""  # the dtype whose arithmetic rate it has; empty: its own


@dataclass(frozen=True, kw_only=True)
class FloatFacts(Facts):
    digits: int  # bits of the significand, the hidden one included
    least_exponent: int  # of the smallest normal number; below it digits are lost
    # Low significand bits that rounding to the next coarser type drops: float64 to float32, float32 to float16 (or
    # TF32), float16 to bfloat16, bfloat16 to an 8-bit float.
    dropped_bits: int
    # Bits of a signalling NaN that no arithmetic makes (torch's and CUDA's own NaN have other payloads): an element
    # that still holds them was never written, even if NaN is the right answer.
    poison: int
    # Bits of a finite number close to the largest, positive: a maximum with it is wrong unless the right answer is as
    # large.
    large: int
    # What a new challenge's cases draw, as Python text: its double is finite; near zero; below the smallest normal.
    huge: str
    tiny: str
    denormal: str
    most_outlier: float = float("inf")  # the largest value that a timed round mixes in

    @property
    def smallest_normal(self) -> float:
        return 2.0**self.least_exponent

    @property
    def quiet_bit(self) -> int:
        """The bit that arithmetic on a CPU sets in a signalling NaN; it keeps all other bits."""
        return 1 << (self.digits - 2)


@dataclass(frozen=True, kw_only=True)
class IntegerFacts(Facts):
    low: int  # the smallest and the largest number that a recipe can draw
    high: int
    narrower: str = ""  # torch's integer type of half the width; empty: there is none

    @property
    def signed(self) -> bool:
        return self.low < 0


class DType(StrEnum):
    FLOAT32 = "float32"
    FLOAT64 = "float64"
    FLOAT16 = "float16"
    BFLOAT16 = "bfloat16"
    INT8 = "int8"
    UINT8 = "uint8"
    INT32 = "int32"
    INT64 = "int64"

    @property
    def facts(self) -> Facts:
        return _FACTS[self]

    @property
    def itemsize(self) -> int:
        return self.facts.itemsize

    @property
    def floating(self) -> bool:
        return isinstance(self.facts, FloatFacts)

    @property
    def half(self) -> bool:
        """A float of 16 bits."""
        return self.floating and self.itemsize == 2

    @property
    def c_type(self) -> str:
        return self.facts.c_type

    @property
    def c_built_in(self) -> str:
        """The C type for code that includes no header."""
        return self.facts.built_in or self.facts.c_type

    @property
    def as_float(self) -> FloatFacts:
        """Raises TypeError if it is an integer."""
        if not isinstance(self.facts, FloatFacts):
            raise TypeError(f"{self.value} is not a float")
        return self.facts

    @property
    def as_integer(self) -> IntegerFacts:
        """Raises TypeError if it is a float."""
        if not isinstance(self.facts, IntegerFacts):
            raise TypeError(f"{self.value} is not an integer")
        return self.facts


_FACTS: Mapping[DType, Facts] = {
    DType.FLOAT32: FloatFacts(
        itemsize=4,
        c_type="float",
        digits=24,
        least_exponent=-126,
        dropped_bits=13,
        poison=0x7FA5_C0DE,
        large=0x7F65_C0DE,
        huge="1.6e38",
        tiny="1e-30",
        denormal="1e-39",
    ),
    DType.FLOAT64: FloatFacts(
        itemsize=8,
        c_type="double",
        digits=53,
        least_exponent=-1022,
        dropped_bits=29,
        poison=0x7FF4_5AFE_C0DE_BEEF,
        large=0x7FE4_5AFE_C0DE_BEEF,
        huge="8e307",
        tiny="1e-300",
        denormal="1e-309",
    ),
    DType.FLOAT16: FloatFacts(
        itemsize=2,
        c_type="__half",
        header="cuda_fp16.h",
        digits=11,
        least_exponent=-14,
        dropped_bits=3,
        poison=0x7DA5,
        large=0x7BA5,
        huge="3e4",
        tiny="1e-3",
        denormal="5e-5",
        # A larger one makes attention's scores so large that their own rounding decides. Sums of float16 are short,
        # and each outlier takes part in thousands of them, so it need not be larger.
        most_outlier=8.0,
    ),
    DType.BFLOAT16: FloatFacts(
        itemsize=2,
        c_type="__nv_bfloat16",
        header="cuda_bf16.h",
        digits=8,
        least_exponent=-126,
        dropped_bits=4,
        poison=0x7FA5,
        large=0x7F65,
        huge="1.6e38",
        tiny="1e-30",
        denormal="1e-39",
    ),
    DType.INT8: IntegerFacts(itemsize=1, c_type="int8_t", built_in="signed char", low=-128, high=127),
    DType.UINT8: IntegerFacts(
        itemsize=1, c_type="uint8_t", built_in="unsigned char", rate_as="int8", low=0, high=255
    ),
    DType.INT32: IntegerFacts(
        itemsize=4, c_type="int32_t", built_in="int", low=-(2**31), high=2**31 - 1, narrower="int16"
    ),
    DType.INT64: IntegerFacts(
        itemsize=8,
        c_type="int64_t",
        built_in="long",
        # A recipe draws in float64, which holds whole numbers up to 2^53.
        low=-(2**53),
        high=2**53 - 1,
        narrower="int32",
    ),
}

# torch's integer type through which the bits of an element are seen, by its bytes.
BITS = {1: "uint8", 2: "int16", 4: "int32", 8: "int64"}
