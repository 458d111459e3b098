"""The emulated GPU within a box: where its package lies, and what its compiler's libraries are checked for.

It lies beside the runner's folder, on the host as in a box (``grader.sandbox.image.PROGRAMS``).
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

_ABOVE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def part(name: str) -> Any:
    """A module of the emulator, such as ``device``. Its folder's neighbours stay out of reach."""
    sys.path.insert(0, _ABOVE)
    try:
        return importlib.import_module(f"emulator.{name}")
    finally:
        sys.path.remove(_ABOVE)


def refused(library: bytes, filename: str) -> str:
    """The compiler's error, so to speak, for an instruction in ``library`` that the emulated GPU does not know; empty
    where it knows all. ``filename``: of the source."""
    engine, fatbin, lower, ptx = (part(name) for name in ("engine", "fatbin", "lower", "ptx"))
    for text in fatbin.ptx_of(fatbin.section_of(library)):
        try:
            engine.check(ptx.parse(text))
        except lower.Unsupported as error:
            at = f"{filename}({error.place.line})" if error.place.line else filename
            return f"{at}: error: {error}\n"
        except ptx.BadPtx as error:
            return f"{filename}: error: the emulated GPU cannot read the PTX of this source: {error}\n"
    return ""
