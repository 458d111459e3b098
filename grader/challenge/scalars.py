"""The value of a scalar, and its bytes as C has them. Does not import torch."""

from __future__ import annotations

import math
import struct

from grader.challenge import numbers
from grader.challenge.dtypes import DType

Number = int | float
_STRUCT = {DType.FLOAT16: "<e", DType.FLOAT32: "<f", DType.FLOAT64: "<d"}


def checked(dtype: DType, value: Number) -> Number:
    """An int for an integer type. Raises ValueError, which says what it must be."""
    if dtype.floating:
        return float(value)
    low, high = ends(dtype)
    if not math.isfinite(value) or value != int(value) or not low <= int(value) <= high:
        raise ValueError(f"{value} is no {dtype.value}: write a whole number from {low} to {high}")
    return int(value)


def ends(dtype: DType) -> tuple[int, int]:
    """All of the type's range, unlike recipes, which draw whole numbers up to 2^53."""
    facts = dtype.as_integer
    if facts.itemsize < 8:
        return facts.low, facts.high
    return (-(1 << 63), (1 << 63) - 1) if facts.signed else (0, (1 << 64) - 1)


def rounded(dtype: DType, value: Number) -> Number:
    """As a kernel receives it. Raises ValueError."""
    if not dtype.floating:
        return checked(dtype, value)
    kind = _STRUCT.get(dtype)
    if kind is None:
        import torch

        return float(numbers.rounded(torch.tensor([value], dtype=torch.float64), dtype).item())
    try:
        return float(struct.unpack(kind, struct.pack(kind, value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def data_of(dtype: DType, value: Number) -> bytes:
    """Little-endian."""
    if not dtype.floating:
        return int(value).to_bytes(dtype.itemsize, "little", signed=value < 0)
    if dtype in _STRUCT:
        return struct.pack(_STRUCT[dtype], rounded(dtype, value))
    import torch

    narrow = numbers.rounded(torch.tensor([value], dtype=torch.float64), dtype)
    return bytes(numbers.encode(narrow, dtype).view(torch.uint8).tolist())


def text_of(value: Number) -> str:
    """A whole number in full, a float with six digits."""
    return str(value) if isinstance(value, int) else f"{value:g}"
