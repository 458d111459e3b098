"""Numbers as the judge holds them, and as memory has them. Does not import torch.

The judge computes with *held* values: of most dtypes torch's type, of floats of at most 8 bits float32, of
unsigned integers a wider type, of bool a byte, of complex64 float32 with a last dimension of 2. *Words* are
what a submission reads and writes; those of a packed dtype have two elements each.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from grader.challenge.dtypes import DType, FloatFacts, IntegerFacts

if TYPE_CHECKING:
    import torch

_NIBBLE = 15
# Elements rounded at a time, each with the bytes of values beside it.
_STEP, _STEP_BYTES = 1 << 22, 64


def held_type(dtype: DType) -> torch.dtype:
    import torch

    found: torch.dtype = getattr(torch, dtype.held)
    return found


def stored_type(dtype: DType) -> torch.dtype:
    import torch

    found: torch.dtype = getattr(torch, dtype.stored)
    return found


def small_float(dtype: DType) -> bool:
    facts = dtype.facts
    return isinstance(facts, FloatFacts) and facts.exponent_bits > 0


@functools.lru_cache
def _values_of_codes(dtype: DType) -> tuple[float, ...]:
    """Without the sign. NaN is its code."""
    facts = dtype.as_float
    digits, bits = facts.digits - 1, facts.exponent_bits
    found = []
    for code in range(1 << (digits + bits)):
        exponent, mantissa = code >> digits, code & ((1 << digits) - 1)
        if not facts.signed:
            found.append(2.0 ** (exponent - facts.bias))
        elif exponent == 0:
            found.append(mantissa * 2.0 ** (1 - facts.bias - digits))
        else:
            found.append((1 + mantissa / (1 << digits)) * 2.0 ** (exponent - facts.bias))
    if facts.infinite:
        found[-(1 << digits) :] = [float("inf")] + [float("nan")] * ((1 << digits) - 1)
    elif facts.nan:
        found[-1] = float("nan")
    return tuple(found)


@functools.lru_cache
def largest(dtype: DType) -> float:
    """Of a float of at most 8 bits."""
    return max(value for value in _values_of_codes(dtype) if value < float("inf"))


@functools.lru_cache
def _decoded(dtype: DType, device: str) -> torch.Tensor:
    """float32 by code; the payload of a NaN is its code."""
    import torch

    values = _values_of_codes(dtype)
    if dtype.as_float.signed:
        values = (*values, *(-value for value in values))
    table = torch.tensor(values, dtype=torch.float32)
    codes = torch.arange(len(values), dtype=torch.int32)
    sign = torch.where(codes >= len(_values_of_codes(dtype)), -(1 << 31), 0) if dtype.as_float.signed else 0
    marked = (codes << 8) | 0x7FC0_0000 | sign
    return torch.where(table.isnan(), marked.to(torch.int32).view(torch.float32), table).to(device)


def decode(words: torch.Tensor, dtype: DType) -> torch.Tensor:
    """Flat held values of flat ``words``."""
    import torch

    if not dtype.encoded:
        return words
    if dtype.packed:
        words = torch.stack((words & _NIBBLE, words >> 4), dim=-1).reshape(-1)
    facts = dtype.facts
    if isinstance(facts, FloatFacts):
        return _decoded(dtype, str(words.device))[words.int()]
    if dtype.packed:
        return ((words.to(torch.int8) ^ 8) - 8).to(held_type(dtype))
    assert isinstance(facts, IntegerFacts)
    return words.to(held_type(dtype)) & facts.high


def encode(values: torch.Tensor, dtype: DType) -> torch.Tensor:
    """Flat words of held ``values`` that the dtype has."""
    import torch

    flat = values.reshape(-1)
    if not dtype.encoded:
        return flat
    if small_float(dtype):
        codes = _codes(flat, dtype)
    elif dtype.packed:
        codes = flat.to(torch.uint8) & _NIBBLE
    else:
        return flat.to(stored_type(dtype))
    return codes[0::2] | (codes[1::2] << 4) if dtype.packed else codes


def _codes(values: torch.Tensor, dtype: DType) -> torch.Tensor:
    """Codes (uint8) of float32 values. Never waits for a GPU: its stream may be held."""
    import torch

    facts, table = dtype.as_float, _finite(dtype, str(values.device))
    most, top = largest(dtype), len(_values_of_codes(dtype)) - 1
    found = torch.empty(values.numel(), dtype=torch.uint8, device=values.device)
    for start in range(0, values.numel(), _STEP):
        part = values[start : start + _STEP]
        size = part.abs().double()
        codes = torch.searchsorted(table, size.clamp(max=most))
        if facts.infinite:
            codes = torch.where(size == float("inf"), table.numel(), codes)
        sign = torch.signbit(part).long() * (top + 1) if facts.signed else 0
        kept = (part.view(torch.int32) >> 8).long() & 0xFF
        lost = torch.where(kept == 0, top | sign, kept)
        found[start : start + _STEP] = torch.where(part.isnan(), lost, codes | sign).to(torch.uint8)
    return found


@functools.lru_cache
def _finite(dtype: DType, device: str) -> torch.Tensor:
    import torch

    values = [value for value in _values_of_codes(dtype) if value < float("inf")]
    return torch.tensor(values, dtype=torch.float64, device=device)


def rounded(values: torch.Tensor, dtype: DType, *, overwrite: bool = False) -> torch.Tensor:
    """Floats to the nearest, ties to even. A float of at most 8 bits saturates; NaN stays if the type has
    one, else it is the largest number, as on a GPU. Integers wrap, with ``overwrite`` in ``values``, which
    takes no more memory.
    """
    import torch

    facts = dtype.facts
    if small_float(dtype):
        return _nearest(values, dtype)
    if dtype is DType.BOOL:
        return values.to(torch.bool).to(torch.uint8)
    if isinstance(facts, IntegerFacts) and dtype.encoded:
        if values.is_floating_point():
            values = values.nan_to_num().long()
        values = values.to(held_type(dtype), copy=not overwrite)  # keeps the low bits
        if dtype.packed:
            return values.bitwise_and_(_NIBBLE).bitwise_xor_(8).sub_(8)
        return values.bitwise_and_(facts.high)
    return values.to(held_type(dtype))


def rounding_bytes(dtype: DType, count: int) -> int:
    """Peak bytes that ``rounded`` needs for ``count`` drawn elements, beyond these."""
    if not small_float(dtype):
        return 0
    return dtype.held_bytes(count) + _STEP_BYTES * min(count, _STEP)


def _nearest(values: torch.Tensor, dtype: DType) -> torch.Tensor:
    import torch

    table, facts = _finite(dtype, str(values.device)), dtype.as_float
    flat = values.reshape(-1)
    found = torch.empty(flat.numel(), dtype=torch.float32, device=values.device)
    middles = (table[1:] + table[:-1]) / 2
    for start in range(0, flat.numel(), _STEP):
        part = flat[start : start + _STEP].double()
        size = part.abs() if facts.signed else part.clamp(min=0.0)
        # Here a value halfway is below the upper neighbour; the lower one is right only if its code is even.
        place = torch.searchsorted(middles, size)
        clamped = place.clamp(max=max(0, middles.numel() - 1))
        place += ((place < middles.numel()) & (middles[clamped] == size) & (place % 2 == 1)).long()
        near = table[place].copysign(part) if facts.signed else table[place]
        if facts.infinite:
            near = torch.where(part.isinf(), part, near)
        nan = float("nan") if facts.nan else largest(dtype)
        found[start : start + _STEP] = torch.where(part.isnan(), nan, near).float()
    return found.view(values.shape)


def comparable(values: torch.Tensor, dtype: DType) -> torch.Tensor:
    """Infinities of a float of 8 bits become its largest number: CUDA's conversions saturate and torch's do
    not. A complex number with a part that is not finite is NaN: libraries differ.
    """

    if small_float(dtype) and dtype.as_float.infinite:
        return values.clamp(-largest(dtype), largest(dtype))
    if dtype.complex:
        pairs = values.reshape(-1, 2)
        lost = ~pairs.isfinite().all(dim=-1, keepdim=True) & ~pairs.isnan()
        # torch.where would change the bits of the poison.
        return pairs.masked_fill(lost, float("nan")).reshape(values.shape)
    return values


def missing_special(values: torch.Tensor, dtype: DType) -> str:
    """What ``values`` hold that ``dtype`` does not have, before rounding; may be empty."""
    if not small_float(dtype) or not values.is_floating_point():
        return ""
    facts = dtype.as_float
    if not facts.infinite and bool(values.isinf().any()):
        return "infinity"
    if not facts.nan and bool(values.isnan().any()):
        return "NaN"
    return "zero or negative numbers" if not facts.signed and bool((values <= 0).any()) else ""


def native(values: torch.Tensor, dtype: DType) -> torch.Tensor:
    """As a reference receives them."""
    import torch

    if dtype is DType.BOOL:
        return values.to(torch.bool)
    return torch.view_as_complex(values.contiguous()) if dtype.complex else values


def exact(values: torch.Tensor, dtype: DType) -> torch.Tensor:
    """A copy: floats in float64, complex64 in complex128."""
    import torch

    if dtype.complex:
        return torch.view_as_complex(values.to(torch.float64, copy=True).contiguous())
    if values.is_floating_point():
        return values.to(torch.float64, copy=True)
    return native(values, dtype).clone()


def of_reference(values: torch.Tensor, dtype: DType) -> torch.Tensor:
    """Real and imaginary parts in a last dimension."""
    import torch

    if not dtype.complex:
        return values
    wide = values if values.is_complex() else values.to(torch.complex128)
    return torch.view_as_real(wide.resolve_conj())


def given_tensor(values: torch.Tensor, dtype: DType, shape: tuple[int, ...]) -> torch.Tensor:
    """What a submission in Python receives for an array of ``shape``."""
    import torch

    words = encode(values.contiguous(), dtype)
    return words.view(getattr(torch, dtype.given)).view(dtype.given_shape(shape))


def shown(values: torch.Tensor, dtype: DType) -> torch.Tensor:
    """For people: those of uint64 from 2^63 on are positive."""
    import torch

    return values.contiguous().view(torch.uint64) if dtype is DType.UINT64 else values


def python_values(values: torch.Tensor, dtype: DType) -> list[Any]:
    found: list[Any] = shown(values.reshape(-1), dtype).tolist()
    return found
