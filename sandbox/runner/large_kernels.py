"""Compiles kernels with hundreds of elements per thread in seconds.

LLVM's pass that packs scalars into vectors (SLP) is at least quadratic in the size of a block of code: an argmax with
256 elements per thread takes 160 s in it and 3 s in everything else. Large kernels are compiled without it.
"""

from __future__ import annotations

from typing import Any

# Selections and lines in a module's text. That argmax has 385 selections for 128 elements per thread, 769 for 256. A
# matrix product in float32 has 98, and 5,470 lines, and is compiled as usual.
_MANY_SELECTIONS, _MANY_LINES = 500, 8000


def use() -> None:
    """Replace the compiler's call from now on. A Triton without an option for that pass is left alone."""
    from triton._C.libtriton import llvm

    optimize = getattr(llvm, "optimize_module", None)
    if optimize is None:
        return

    def optimized(module: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("disable_slp_vectorizer") is False and _is_large(str(module)):
            kwargs["disable_slp_vectorizer"] = True
        return optimize(module, *args, **kwargs)

    llvm.optimize_module = optimized


def _is_large(text: str) -> bool:
    return text.count(" select ") > _MANY_SELECTIONS or text.count("\n") > _MANY_LINES
