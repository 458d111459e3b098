"""Conversions from and to bfloat16 in Triton's interpreter, as a GPU makes them.

The interpreter keeps bfloat16 as plain 16-bit numbers. Its own conversions cut off where a GPU rounds to nearest, take
denormal numbers for others, and make the bits of a bfloat16 of an integer or a float64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


def convert_bfloat16() -> None:
    """From now on. A Triton whose interpreter is built otherwise is left alone."""
    import triton.language as tl
    from triton.runtime import interpreter

    builder = getattr(interpreter, "InterpreterBuilder", None)
    handle = getattr(interpreter, "TensorHandle", None)
    if builder is None or handle is None or not hasattr(builder, "cast_impl"):
        return
    cast = builder.cast_impl

    def converted(this: Any, source: Any, target: Any) -> Any:
        given, wanted = source.dtype.scalar, target.scalar
        if given == wanted or tl.bfloat16 not in (given, wanted):
            return cast(this, source, target)
        if given == tl.bfloat16:
            return cast(this, handle(widened(source.data), tl.float32), target)
        return handle(rounded(source.data), tl.bfloat16)

    builder.cast_impl = converted


def widened(bits: np.ndarray) -> np.ndarray:
    """The float32 of bfloat16 numbers, which are given by their bits (uint16)."""
    import numpy as np

    made: np.ndarray = np.left_shift(bits, 16, dtype=np.uint32).view(np.float32)
    return made


def rounded(values: np.ndarray) -> np.ndarray:
    """The bits (uint16) of the bfloat16 numbers nearest to ``values``, of ties the even one."""
    import numpy as np

    with np.errstate(all="ignore"):
        single = np.asarray(values).astype(np.float32)
        bits = single.view(np.uint32)
        nearest = (bits + np.uint32(0x7FFF) + ((bits >> 16) & np.uint32(1))) >> 16
        made: np.ndarray = np.where(np.isnan(single), (bits >> 16) | np.uint32(0x40), nearest)
        return made.astype(np.uint16)
