"""Kernels with hundreds of elements a thread, compiled in seconds.

LLVM's pass that packs scalars into vectors (SLP) takes time that grows with the square of a block of code or worse: of
an argmax with 256 elements a thread 160 s, where all else takes 3 s. A kernel of that size is compiled without it.
"""

from __future__ import annotations

from typing import Any

# Of a module's text: selections, of which that argmax has 385 for 128 elements a thread and 769 for 256, and lines. A
# matrix product in float32 has 98 and 5,470, and is compiled as ever.
_MANY_SELECTIONS, _MANY_LINES = 500, 8000


def use() -> None:
    """From now on. A Triton that does not say whether it wants that pass is left alone."""
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
