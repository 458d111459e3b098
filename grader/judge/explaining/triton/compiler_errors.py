"""Hints for errors of Triton's compiler."""

from __future__ import annotations

import ast
import re

from grader.judge.explaining.triton.expressions import names_in, only_expands
from grader.judge.explaining.triton.program import Program
from grader.judge.explaining.triton.source import operation_of, walk
from grader.judge.messages import Failure

_BY_MESSAGE = (
    (
        re.compile(r"arange's range must be a power of 2"),
        "Use the next power of two, triton.next_power_of_2(...), and mask everything beyond the size.",
    ),
    (
        re.compile(r"Boolean value of Tensor with more than one value|bool\(.*tensor|logical (?:and|or)"),
        "A tile has a condition for each element, so and, or, not and if do not work. Use & and | with parentheses, ~, "
        "tl.where, or mask=.",
    ),
    (
        re.compile(r"incompatible dimensions|Cannot broadcast|Cannot make_shape_compatible"),
        "The shapes do not fit. A reduction and tl.arange give one axis: [:, None] makes a column of it, and "
        "[None, :] a row.",
    ),
    (
        re.compile(r"Pointer argument .* cannot be accessed from Triton|cpu tensor"),
        "A kernel takes tensors on the GPU: create it with device=x.device for an argument x of solve.",
    ),
    (
        re.compile(r"out of resource: shared memory"),
        "The tiles need more shared memory than a multiprocessor has: use smaller blocks, or a smaller num_stages.",
    ),
)


def indexed_pointer(program: Program, failure: Failure, line: int) -> str:
    kernel = program.source.kernel_at(line)
    if kernel is None:
        return ""
    for node in walk(*kernel.node.body):
        if not isinstance(node, ast.Subscript) or node.lineno != line or not isinstance(node.value, ast.Name):
            continue
        name = node.value.id
        if name in kernel.parameters and name not in kernel.constants and not only_expands(node.slice):
            index = ast.unparse(node.slice)
            return (
                f"{name} is a pointer, which cannot be indexed: read with tl.load({name} + {index}, mask=...), "
                f"write with tl.store({name} + {index}, value, mask=...)."
            )
    return ""


def not_constant(program: Program, failure: Failure, line: int) -> str:
    kernel = program.source.kernel_at(line)
    if kernel is None or "constexpr" not in failure.message:
        return ""
    for node in walk(*kernel.node.body):
        shapes = operation_of(node) in ("arange", "zeros", "full")
        if isinstance(node, ast.Call) and shapes and node.lineno == line:
            for name in names_in(node):
                if name in kernel.parameters and name not in kernel.constants:
                    return (
                        f"A shape depends on {name}, so it must be known when the kernel is compiled: write "
                        f"{name}: tl.constexpr in the parameters of {kernel.name}."
                    )
    return ""


def by_message(program: Program, failure: Failure, line: int) -> str:
    return next((hint for pattern, hint in _BY_MESSAGE if pattern.search(failure.message)), "")
