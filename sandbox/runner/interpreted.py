"""Arithmetic in Triton's interpreter as on a GPU: bfloat16 everywhere, and TF32 in products.

The interpreter stores bfloat16 as 16-bit integers and computes with those. Its own conversions truncate where a GPU
rounds to nearest, get denormals wrong, and reinterpret the bits of an integer or a float64. It multiplies in float32,
whatever precision ``tl.dot`` asks for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


def round_as_gpu() -> None:
    """Replace the interpreter's operations from now on. A Triton with another interpreter is left alone."""
    import numpy as np
    import triton.language as tl
    from triton.runtime import interpreter

    builder = getattr(interpreter, "InterpreterBuilder", None)
    handle = getattr(interpreter, "TensorHandle", None)
    replaced = ("cast_impl", "unary_op", "binary_op", "ternary_op", "create_fma", "create_dot")
    if handle is None or not all(hasattr(builder, name) for name in replaced):
        return
    cast, unary, binary, ternary, fma, dot = (getattr(builder, name) for name in replaced)

    def is_half(value: Any) -> bool:
        return bool(value.dtype.scalar == tl.bfloat16)

    def single(value: Any) -> Any:
        return handle(widened(value.data), tl.float32) if is_half(value) else value

    def half(value: Any) -> Any:
        """The result of an operation. A comparison's is bool, whatever its declared type."""
        if value.data.dtype == bool:
            return handle(value.data, tl.int1)
        return handle(rounded(value.data), tl.bfloat16)

    def converted(this: Any, source: Any, target: Any) -> Any:
        wanted = target.scalar
        if wanted == source.dtype.scalar or not (is_half(source) or wanted == tl.bfloat16):
            return cast(this, source, target)
        if wanted == tl.bfloat16:
            return handle(rounded(source.data), wanted)
        return cast(this, single(source), target)

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

    made = (converted, of_one, of_two, of_three, fused, product)
    for name, function in zip(replaced, made, strict=True):
        setattr(builder, name, function)


def cut_to_tf32(values: np.ndarray) -> np.ndarray:
    """float32 numbers without their lowest 13 bits, which a GPU's tensor cores ignore; NaN stays NaN."""
    import numpy as np

    cut = (np.asarray(values, np.float32).view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    made: np.ndarray = np.where(np.isnan(values), values, cut)
    return made


def widened(bits: np.ndarray) -> np.ndarray:
    """bfloat16 numbers, given by their bits (uint16), as float32."""
    import numpy as np

    made: np.ndarray = np.left_shift(bits, 16, dtype=np.uint32).view(np.float32)
    return made


def rounded(values: np.ndarray) -> np.ndarray:
    """The bits (uint16) of the bfloat16 numbers nearest to ``values``; ties go to the even one."""
    import numpy as np

    with np.errstate(all="ignore"):
        single = np.asarray(values).astype(np.float32)
        bits = single.view(np.uint32)
        nearest = (bits + np.uint32(0x7FFF) + ((bits >> 16) & np.uint32(1))) >> 16
        made: np.ndarray = np.where(np.isnan(single), (bits >> 16) | np.uint32(0x40), nearest)
        return made.astype(np.uint16)
