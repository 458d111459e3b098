"""Compiles kernels with hundreds of elements per thread in seconds.

LLVM's SLP pass is at least quadratic in a basic block: 160 s of 163 for an argmax with 256 elements per
thread. Large kernels skip it.
"""

from __future__ import annotations

from typing import Any

# That argmax has 769 selections, a float32 matrix product only 98 and 5,470 lines.
_MANY_SELECTIONS, _MANY_LINES = 500, 8000


def use() -> None:
    """Does nothing if Triton lacks the option."""
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
