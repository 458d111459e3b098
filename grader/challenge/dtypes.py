"""One row per dtype, with every fact that depends on it.

To add a dtype, add its name to ``DType`` and its row to ``_FACTS``. Code inside a box cannot import this
module: ``tests/challenge/test_dtypes.py`` compares the tables there with this one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, kw_only=True)
class Facts:
    itemsize: int  # bytes; of a packed type, of ``packed`` elements
    c_type: str
    built_in: str = ""  # without any header, on 64-bit Linux; empty: c_type
    header: str = ""  # for c_type; empty: <cstdint>, or none
    scalar: bool = True
    rate_as: str = ""  # the dtype with the same arithmetic rate; empty: itself
    # Torch's types; empty: the dtype's name. ``held``: of the judge's values. ``stored``: of the words in
    # memory, if they are not those values. ``given``: what a submission in Python receives.
    held: str = ""
    stored: str = ""
    given: str = ""
    packed: int = 1  # elements in one word of memory, along the last dimension
    parts: int = 1  # held values of one element: real and imaginary


@dataclass(frozen=True, kw_only=True)
class FloatFacts(Facts):
    digits: int  # of the significand, with the hidden one
    least_exponent: int  # of the smallest normal number
    # Low significand bits that rounding to the next coarser type drops (of float32: to float16 or TF32).
    dropped_bits: int
    # A signalling NaN that no arithmetic makes: an element with these bits was never written, even if NaN is
    # right.
    poison: int
    # Bits close to the largest number: a maximum with it is wrong unless the right answer is as large.
    large: int
    # For a new challenge's cases: its double is finite; near zero; below the smallest normal.
    huge: str
    tiny: str
    denormal: str
    most_outlier: float = float("inf")  # the largest value that a timed round mixes in
    infinite: bool = True
    nan: bool = True
    signed: bool = True
    # A float of at most 8 bits; 0: a larger one.
    exponent_bits: int = 0
    bias: int = 0
    # The poison can be a NaN that no right answer is.
    nan_poison: bool = True

    @property
    def smallest_normal(self) -> float:
        return 2.0**self.least_exponent

    @property
    def quiet_bit(self) -> int:
        """Arithmetic on a CPU sets this bit in a signalling NaN; it keeps all other bits."""
        return 1 << (self.digits - 2)


@dataclass(frozen=True, kw_only=True)
class IntegerFacts(Facts):
    low: int  # that a recipe can draw
    high: int
    narrower: str = ""  # torch's integer type of half the width

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
    INT16 = "int16"
    UINT16 = "uint16"
    UINT32 = "uint32"
    UINT64 = "uint64"
    BOOL = "bool"
    FLOAT8_E4M3 = "float8_e4m3fn"
    FLOAT8_E5M2 = "float8_e5m2"
    FLOAT8_E8M0 = "float8_e8m0fnu"
    COMPLEX64 = "complex64"
    FLOAT4_E2M1 = "float4_e2m1fn"
    INT4 = "int4"

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
    def held(self) -> str:
        return self.facts.held or self.value

    @property
    def stored(self) -> str:
        return self.facts.stored or self.held

    @property
    def encoded(self) -> bool:
        return bool(self.facts.stored)

    @property
    def strided(self) -> bool:
        return not self.encoded and not self.complex

    @property
    def given(self) -> str:
        return self.facts.given or self.value

    @property
    def packed(self) -> bool:
        return self.facts.packed > 1

    @property
    def complex(self) -> bool:
        return self.facts.parts > 1

    def bytes_of(self, elements: int) -> int:
        return self.facts.itemsize * -(-elements // self.facts.packed)

    def held_bytes(self, elements: int) -> int:
        """Of the judge's values."""
        return _HELD_BYTES[self.held] * self.facts.parts * elements

    def held_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Of the judge's values."""
        return (*shape, self.facts.parts) if self.complex else shape

    def given_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Of the tensor that a submission in Python receives."""
        return (*shape[:-1], shape[-1] // self.facts.packed) if self.packed else self.held_shape(shape)

    @property
    def c_type(self) -> str:
        return self.facts.c_type

    @property
    def c_built_in(self) -> str:
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
        # With larger ones, the rounding of attention's scores decides.
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
    DType.INT16: IntegerFacts(
        itemsize=2, c_type="int16_t", built_in="short", low=-(2**15), high=2**15 - 1, narrower="int8"
    ),
    # Held in wider types: torch computes with no unsigned type but uint8.
    DType.UINT16: IntegerFacts(
        itemsize=2,
        c_type="uint16_t",
        built_in="unsigned short",
        held="int32",
        stored="int16",
        low=0,
        high=2**16 - 1,
        narrower="uint8",
    ),
    DType.UINT32: IntegerFacts(
        itemsize=4,
        c_type="uint32_t",
        built_in="unsigned int",
        held="int64",
        stored="int32",
        low=0,
        high=2**32 - 1,
        narrower="int16",
    ),
    # Held as int64 with the same bits: those from 2^63 on are negative.
    DType.UINT64: IntegerFacts(
        itemsize=8,
        c_type="uint64_t",
        built_in="unsigned long",
        held="int64",
        low=0,
        high=2**53 - 1,
        narrower="int32",
    ),
    # Held as bytes: a byte that is neither 0 nor 1 must be seen.
    DType.BOOL: IntegerFacts(itemsize=1, c_type="bool", rate_as="int8", held="uint8", low=0, high=1),
    # The poison is the negative NaN of all ones: conversions give the positive one. ``large`` is the largest
    # number.
    DType.FLOAT8_E4M3: FloatFacts(
        itemsize=1,
        c_type="__nv_fp8_e4m3",
        header="cuda_fp8.h",
        rate_as="int8",
        held="float32",
        stored="uint8",
        digits=4,
        least_exponent=-6,
        dropped_bits=2,
        poison=0xFF,
        large=0x7E,
        huge="200.0",
        tiny="0.05",
        denormal="0.01",
        most_outlier=8.0,
        infinite=False,
        exponent_bits=4,
        bias=7,
    ),
    DType.FLOAT8_E5M2: FloatFacts(
        itemsize=1,
        c_type="__nv_fp8_e5m2",
        header="cuda_fp8.h",
        rate_as="int8",
        held="float32",
        stored="uint8",
        digits=3,
        least_exponent=-14,
        dropped_bits=1,
        poison=0xFF,
        large=0x7B,
        huge="2e4",
        tiny="1e-3",
        denormal="5e-5",
        most_outlier=8.0,
        exponent_bits=5,
        bias=15,
    ),
    # A power of two: a scale of MX formats. Conversions give its only NaN, so it is no poison.
    DType.FLOAT8_E8M0: FloatFacts(
        itemsize=1,
        scalar=False,
        c_type="__nv_fp8_e8m0",
        header="cuda_fp8.h",
        rate_as="int8",
        held="float32",
        stored="uint8",
        given="uint8",
        digits=1,
        least_exponent=-126,
        dropped_bits=1,
        poison=0xF5,
        large=0xF5,
        huge="5e37",
        tiny="1e-30",
        denormal="5.9e-39",
        infinite=False,
        signed=False,
        exponent_bits=8,
        bias=127,
        nan_poison=False,
    ),
    # In memory as float32, real before imaginary.
    DType.COMPLEX64: FloatFacts(
        itemsize=8,
        scalar=False,
        c_type="float2",
        held="float32",
        given="float32",
        rate_as="float32",
        parts=2,
        digits=24,
        least_exponent=-126,
        dropped_bits=13,
        poison=0x7FA5_C0DE,
        large=0x7F65_C0DE,
        huge="1.6e38",
        tiny="1e-30",
        denormal="1e-39",
    ),
    # Two in a byte: the element of even place in the low bits.
    DType.FLOAT4_E2M1: FloatFacts(
        itemsize=1,
        scalar=False,
        c_type="__nv_fp4x2_e2m1",
        header="cuda_fp4.h",
        rate_as="int8",
        held="float32",
        stored="uint8",
        given="uint8",
        packed=2,
        digits=2,
        least_exponent=0,
        dropped_bits=1,
        poison=0x5A,
        large=0x77,
        huge="2.5",
        tiny="1.25",
        denormal="0.6",
        most_outlier=6.0,
        infinite=False,
        nan=False,
        exponent_bits=2,
        bias=1,
        nan_poison=False,
    ),
    DType.INT4: IntegerFacts(
        itemsize=1,
        scalar=False,
        c_type="uint8_t",
        built_in="unsigned char",
        rate_as="int8",
        held="int8",
        stored="uint8",
        given="uint8",
        packed=2,
        low=-8,
        high=7,
    ),
}

_HELD_BYTES: Mapping[str, int] = {
    dtype.value: dtype.itemsize for dtype in DType if dtype.held == dtype.value and dtype.facts.parts == 1
}

# torch's integer type for an element's bits, by its bytes.
BITS = {1: "uint8", 2: "int16", 4: "int32", 8: "int64"}
