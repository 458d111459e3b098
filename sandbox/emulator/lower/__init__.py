"""Lowers PTX to the engine's rows.

An unknown instruction raises ``Unsupported``: a kernel runs whole or not at all. Modules add handlers to
``kernel.HANDLERS``; ``hopper`` extends some.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..ptx import Module
from . import (  # noqa: F401  each adds its instructions
    arithmetic,
    bits,
    compare,
    control,
    convert,
    hopper,
    matrices,
    memory,
    products,
    textures,
    video,
    warps,
)
from .kernel import Kernel
from .rows import ROW, CodeRow, Lowered, Malformed, Unsupported, function_address, layout

__all__ = ["ROW", "CodeRow", "Lowered", "Malformed", "Unsupported", "function_address", "layout", "lower"]


def lower(
    module: Module, name: str, addresses: Mapping[str, int], operations: Mapping[str, tuple[int, int]]
) -> Lowered:
    """``addresses``: of module variables. ``operations``: alu.ops' numbers and operand counts, by name.

    Raises Unsupported.
    """
    return Kernel(module, module.functions[name], addresses, operations).lowered()
