"""Lowers PTX instructions to rows of the engine's table.

An unknown instruction raises ``Unsupported`` with its line: a kernel runs whole or not at all. Each family of
instructions is a module that adds handlers to ``kernel.HANDLERS``; ``hopper`` extends some of them.
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
    """``addresses``: of the module's global and constant variables; ``operations``: number and operand count of the
    operations of alu.ops, by name.

    Raises Unsupported.
    """
    return Kernel(module, module.functions[name], addresses, operations).lowered()
