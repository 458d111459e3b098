"""Puts an exception into the bounded form that a student reads: type, message, own line, own frames."""

from __future__ import annotations

import traceback
from typing import Any

_TEXT = 4000
SOURCE_NAME = "solution.py"


def describe(error: BaseException) -> dict[str, Any]:
    """``kind`` is memory, syntax, import, cuda or exception; ``line`` is the last line of the student's own file.

    An error of CUDA's own has CUDA's name of it as its ``type``.
    """
    root = _root(error)
    frames = [frame for frame in _frames(error) if frame.filename.endswith(SOURCE_NAME)]
    line = (
        getattr(root, "lineno", None)
        if isinstance(root, SyntaxError)
        else (frames[-1].lineno if frames else None)
    )
    trace = "".join(f"  line {frame.lineno} in {frame.name}: {frame.line or ''}\n" for frame in frames)
    return {
        "kind": _kind(root),
        "type": str(getattr(root, "name", "")) if _is_cuda(root) else type(root).__name__,
        "message": str(root)[:_TEXT],
        "line": line if isinstance(line, int) else None,
        "trace": trace[-_TEXT:],
    }


def _root(error: BaseException) -> BaseException:
    """Triton's interpreter wraps what a kernel raised; the cause says more."""
    while type(error).__name__ == "InterpreterError" and error.__cause__ is not None:
        error = error.__cause__
    return error


def _frames(error: BaseException) -> list[traceback.FrameSummary]:
    frames: list[traceback.FrameSummary] = []
    current: BaseException | None = error
    while current is not None:
        frames.extend(traceback.extract_tb(current.__traceback__))
        current = current.__cause__
    return frames


def _is_cuda(error: BaseException) -> bool:
    """Whether it is a CudaError or a CallFailed (told by their form: on a host nobody imports the two)."""
    return hasattr(error, "out_of_memory") and hasattr(error, "code")


def _kind(error: BaseException) -> str:
    if isinstance(error, MemoryError) or "DefaultCPUAllocator" in str(error):
        return "memory"
    if type(error).__name__ == "OutOfMemoryError" or getattr(error, "out_of_memory", False):
        return "memory"
    if _is_cuda(error):
        return "cuda"
    if isinstance(error, SyntaxError):
        return "syntax"
    if isinstance(error, ImportError):
        return "import"
    return "exception"
