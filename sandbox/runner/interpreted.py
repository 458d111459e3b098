"""A GPU's arithmetic in Triton's interpreter: bfloat16, floats of 8 bits, TF32 products.

The interpreter computes with bfloat16's bits as integers, truncates conversions, gets denormals wrong, knows
no 8-bit NaN, and always multiplies in float32.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


def prepare_once() -> None:
    """Prepare Triton's modules once a launch. The interpreter repeats it for each called function
    (``tl.sum``), up to half of the time.
    """
    from triton.runtime import interpreter

    prepare = getattr(interpreter, "_patch_lang", None)
    executor = getattr(interpreter, "GridExecutor", None)
    if prepare is None or executor is None:
        return
    launch = executor.__call__
    launches: list[set[int]] = []

    def prepared(function: Any) -> Any:
        if not launches:
            return prepare(function)
        if id(function.__globals__) not in launches[-1]:
            found = prepare(function)  # may raise
            launches[-1].add(id(function.__globals__))
            return found
        return None  # only a launch undoes it

    @functools.wraps(launch)
    def launched(this: Any, *args: Any, **kwargs: Any) -> Any:
        launches.append(set())
        try:
            return launch(this, *args, **kwargs)
        finally:
            launches.pop()
            if launches:  # undid what the outer launch needs
                launches[-1].clear()

    interpreter._patch_lang = prepared
    executor.__call__ = launched


def round_as_gpu() -> None:
    """Does nothing for another interpreter."""
    import numpy as np
    import triton.language as tl
    from triton.runtime import interpreter

    builder = getattr(interpreter, "InterpreterBuilder", None)
    handle = getattr(interpreter, "TensorHandle", None)
    replaced = (
        "cast_impl",
        "unary_op",
        "binary_op",
        "ternary_op",
        "create_fma",
        "create_dot",
        "create_fp_to_fp",
    )
    if handle is None or not all(hasattr(builder, name) for name in replaced):
        return
    cast, unary, binary, ternary, fma, dot, between = (getattr(builder, name) for name in replaced)

    def is_half(value: Any) -> bool:
        return bool(value.dtype.scalar == tl.bfloat16)

    eights = {tl.float8e4nv: "e4m3", tl.float8e5: "e5m2"}

    def eight(value: Any) -> str:
        """An 8-bit float's format, or empty."""
        return eights.get(value.dtype.scalar, "")

    def single(value: Any) -> Any:
        if eight(value):
            return handle(of_eight_bits(value.data, eight(value)), tl.float32)
        return handle(widened(value.data), tl.float32) if is_half(value) else value

    def half(value: Any) -> Any:
        """A comparison's is bool, whatever its declared type."""
        if value.data.dtype == bool:
            return handle(value.data, tl.int1)
        return handle(rounded(value.data), tl.bfloat16)

    def converted(this: Any, source: Any, target: Any) -> Any:
        wanted = target.scalar
        if wanted != source.dtype.scalar and wanted in eights:
            wide = single(source) if is_half(source) or eight(source) else source
            return handle(to_eight_bits(wide.data, eights[wanted]), wanted)
        if wanted != source.dtype.scalar and eight(source):
            return converted(this, single(source), target)
        if wanted == source.dtype.scalar or not (is_half(source) or wanted == tl.bfloat16):
            return cast(this, source, target)
        if wanted == tl.bfloat16:
            return handle(rounded(source.data), wanted)
        return cast(this, single(source), target)

    def of_floats(this: Any, source: Any, target: Any, rounding: Any) -> Any:
        if eight(source) or target.scalar in eights:
            return converted(this, source, target)
        return between(this, source, target, rounding)

    def of_one(this: Any, one: Any, function: Any) -> Any:
        return half(unary(this, single(one), function)) if is_half(one) else unary(this, one, function)

    def of_two(this: Any, one: Any, two: Any, function: Any) -> Any:
        if not is_half(one):
            return binary(this, one, two, function)
        return half(binary(this, single(one), single(two), function))

    def of_three(this: Any, one: Any, two: Any, three: Any, function: Any) -> Any:
        if function is np.where or not is_half(three):  # a selection changes no value
            return ternary(this, one, two, three, function)
        return half(ternary(this, single(one), single(two), single(three), function))

    def fused(this: Any, one: Any, two: Any, three: Any) -> Any:
        if not is_half(three):
            return fma(this, one, two, three)
        return half(fma(this, single(one), single(two), single(three)))

    def product(this: Any, one: Any, two: Any, start: Any, precision: Any, *more: Any) -> Any:
        one, two = single(one), single(two)
        if getattr(precision, "name", "") == "TF32" and one.dtype.scalar == tl.float32:
            one, two = (handle(cut_to_tf32(value.data), tl.float32) for value in (one, two))
        return dot(this, one, two, start, precision, *more)

    made = (converted, of_one, of_two, of_three, fused, product, of_floats)
    for name, function in zip(replaced, made, strict=True):
        setattr(builder, name, function)
    if implicit := getattr(interpreter, "_implicit_cvt", None):

        def argument(given: Any) -> Any:
            """The interpreter calls whole numbers from 2^31 to 2^32 - 1 int64, in 32 bits."""
            found = implicit(given)
            if isinstance(given, int) and 1 << 31 <= given < 1 << 32:
                found.handle.data = found.handle.data.astype(np.int64)
            return found

        interpreter._implicit_cvt = argument


def cut_to_tf32(values: np.ndarray) -> np.ndarray:
    """Drops the lowest 13 bits of float32, which tensor cores ignore. NaN stays NaN."""
    import numpy as np

    cut = (np.asarray(values, np.float32).view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    made: np.ndarray = np.where(np.isnan(values), values, cut)
    return made


def widened(bits: np.ndarray) -> np.ndarray:
    """bfloat16's bits (uint16) to float32."""
    import numpy as np

    made: np.ndarray = np.left_shift(bits, 16, dtype=np.uint32).view(np.float32)
    return made


def rounded(values: np.ndarray) -> np.ndarray:
    """The nearest bfloat16's bits (uint16), ties to even."""
    import numpy as np

    with np.errstate(all="ignore"):
        single = np.asarray(values).astype(np.float32)
        bits = single.view(np.uint32)
        nearest = (bits + np.uint32(0x7FFF) + ((bits >> 16) & np.uint32(1))) >> 16
        made: np.ndarray = np.where(np.isnan(single), (bits >> 16) | np.uint32(0x40), nearest)
        return made.astype(np.uint16)


@functools.lru_cache
def _values(kind: str) -> np.ndarray:
    """An 8-bit float's positive finite numbers by code (float64)."""
    import numpy as np

    digits, bias, finite = {"e4m3": (3, 7, 0x7F), "e5m2": (2, 15, 0x7C)}[kind]
    codes = np.arange(finite)
    exponent, mantissa = codes >> digits, (codes & ((1 << digits) - 1)) / (1 << digits)
    made: np.ndarray = np.ldexp(
        np.where(exponent == 0, mantissa, 1 + mantissa), np.maximum(exponent, 1) - bias
    )
    return made


def of_eight_bits(codes: np.ndarray, kind: str) -> np.ndarray:
    """An 8-bit float's bits (uint8) to float32."""
    import numpy as np

    table = np.full(128, np.nan)
    table[: len(_values(kind))] = _values(kind)
    if kind == "e5m2":
        table[0x7C] = np.inf
    codes = np.asarray(codes).view(np.uint8)
    made: np.ndarray = np.where(codes & 0x80, -table[codes & 0x7F], table[codes & 0x7F]).astype(np.float32)
    return made


def to_eight_bits(values: np.ndarray, kind: str) -> np.ndarray:
    """The nearest 8-bit floats' bits (uint8), ties to even; saturates like a GPU."""
    import numpy as np

    table, wide = _values(kind), np.asarray(values).astype(np.float64)
    middles, size = (table[1:] + table[:-1]) / 2, np.abs(wide)
    place = np.searchsorted(middles, np.where(np.isnan(size), 0, size))
    halfway = middles[np.minimum(place, len(middles) - 1)] == size
    place = np.where(halfway & (place % 2 == 1) & (place < len(middles)), place + 1, place)
    made: np.ndarray = np.where(np.isnan(wide), 0x7F, place | (np.signbit(wide) * 0x80)).astype(np.uint8)
    return made
