"""Shows libraries' warnings at the submission's line.

NumPy's warnings name a line of Triton's interpreter, which means nothing to a student.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

from failure import SOURCE_NAME


def show_own_lines() -> None:
    """Drops warnings that no line of the submission caused."""
    warnings.showwarning = _show


def _show(
    message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None
) -> None:
    own = lineno if filename.endswith(SOURCE_NAME) else _own_line()
    stream = sys.stderr if file is None else file
    if own is not None and stream is not None:
        stream.write(f"{SOURCE_NAME}:{own}: {category.__name__}: {message}\n")


def _own_line() -> int | None:
    """The innermost on the stack."""
    frame = sys._getframe(1)
    while frame is not None and not frame.f_code.co_filename.endswith(SOURCE_NAME):
        frame = frame.f_back  # type: ignore[assignment]
    return frame.f_lineno if frame is not None else None
