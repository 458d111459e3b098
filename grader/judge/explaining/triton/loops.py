"""Loops over a row's chunks: the last left out, unscaled sums, places from atomics."""

from __future__ import annotations

import ast

from grader.challenge.cases import Case
from grader.challenge.model import Kind
from grader.judge.explaining.triton.expressions import called_operation, names_in
from grader.judge.explaining.triton.program import Program
from grader.judge.explaining.triton.source import Kernel, operation_of, walk
from grader.judge.explaining.triton.tile_reader import constants_of
from grader.judge.explaining.wrong import Pattern
from grader.schemas.report import Mismatch

# Patterns that need no loop.
_OTHERS = (
    "turned", "turned_tiles", "read_turned", "reversed", "exchanged", "ignored", "other_axis", "by_row", "nan_lost",
    "ties", "whole", "shifted", "begins_again", "rounded_inputs", "first_for_all", "twice", "scaled",
    "of_chunk", "inverted",
)  # fmt: skip


def rounded_loop(program: Program, pattern: Pattern | None, case: Case) -> str:
    """``range(cols // BLOCK)`` at a size that is no multiple of BLOCK."""
    if pattern is not None and pattern.kind in _OTHERS:
        return ""
    for kernel in program.source.kernels.values():
        given = program.given(kernel)
        for loop in walk(*kernel.node.body):
            if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call):
                continue
            if (
                called_operation(loop.iter) not in ("range", "static_range", "")
                or not 1 <= len(loop.iter.args) <= 2
            ):
                continue
            end = loop.iter.args[-1]
            end = kernel.values.get(end.id, end) if isinstance(end, ast.Name) else end
            match end:
                case ast.BinOp(left=ast.Name(id=size), op=ast.FloorDiv(), right=tile):
                    argument, number = given.get(size), _number(program, kernel, tile)
                    if argument is None or argument.kind is not Kind.SIZE or not number:
                        continue
                    extent = case.sizes.get(argument.name, 0)
                    if not extent % number or _asks_for_rest(kernel, size):
                        continue
                    return (
                        f"The loop in line {loop.lineno} runs {ast.unparse(end)} times, which rounds down: of "
                        f"{argument.name} = {extent:,} the last {extent % number:,} are left out. Use tl.cdiv, and "
                        "mask the last, partial block."
                    )
    return ""


def _asks_for_rest(kernel: Kernel, size: str) -> bool:
    return any(
        isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and size in names_in(node)
        for node in walk(*kernel.node.body)
    )


def _number(program: Program, kernel: Kernel, tile: ast.expr) -> int | None:
    """A literal, a constant of the module, or passed by every launch."""
    if isinstance(tile, ast.Constant) and isinstance(tile.value, int):
        return tile.value
    if not isinstance(tile, ast.Name):
        return None
    constants = constants_of(program.source.tree)
    passed = [launch.given.get(tile.id) for launch in program.source.launches if launch.kernel is kernel]
    found = set()
    for value in passed if tile.id in kernel.parameters else [tile]:
        if isinstance(value, ast.Constant) and isinstance(value.value, int):
            found.add(value.value)
        elif isinstance(value, ast.Name) and value.id in constants:
            found.add(int(constants[value.id]))
        else:
            return None
    return found.pop() if len(found) == 1 else None


def sum_not_rescaled(program: Program, pattern: Pattern | None, mismatch: Mismatch) -> str:
    """A sum keeps an older maximum's scale."""
    if mismatch.kind != "value" or (pattern is not None and pattern.kind in _OTHERS):
        return ""
    for kernel in program.source.kernels.values():
        for loop in walk(*kernel.node.body):
            if isinstance(loop, ast.For) and (said := _kept_scale(loop)):
                return said
    return ""


def _kept_scale(loop: ast.For) -> str:
    assigned = [
        (node.targets[0].id, node.value, node.lineno)
        for node in walk(*loop.body)
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
    ]
    assigned += [
        (node.target.id, ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value), node.lineno)
        for node in walk(*loop.body)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
    ]
    maxima = {
        name
        for name, value, _ in assigned
        if any(isinstance(node, ast.Call) and called_operation(node) == "maximum" for node in walk(value))
    }
    if not maxima:
        return ""
    shifted = {
        name
        for name, value, _ in assigned
        if any(
            isinstance(node, ast.Call)
            and called_operation(node) in ("exp", "exp2")
            and names_in(node) & maxima
            for node in walk(value)
        )
    }
    for name, value, line in assigned:
        if name in maxima | shifted or name not in names_in(value) or not _adds(value, name):
            continue
        if not names_in(value) & shifted:
            continue
        scaled = any(
            isinstance(node, ast.BinOp)
            and isinstance(node.op, (ast.Mult, ast.Div))
            and name in names_in(node)
            for _, other, _ in assigned
            for node in walk(other)
        )
        if not scaled:
            return (
                f"Line {line} adds to {name} exponentials relative to the new maximum {min(maxima)}, but {name} so far "
                "is relative to the old one: when the running maximum changes, multiply it by exp(old - new) first."
            )
    return ""


def _adds(value: ast.expr, name: str) -> bool:
    """``name + ...``, or tl.dot with ``name`` as its sum."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        return True
    return isinstance(value, ast.Call) and operation_of(value) == "dot" and name in names_in(value)


def ordered_by_atomic(program: Program) -> str:
    for kernel in program.source.kernels.values():
        for name, value in kernel.assigned.items():
            atomic = any(operation_of(node) == "atomic_add" for node in walk(value))
            stores = [access for access in kernel.accesses if access.operation == "store"]
            if atomic and any(
                name in names_in(access.pointer) or _derived(kernel, access.pointer, name)
                for access in stores
            ):
                return (
                    f"Line {value.lineno} takes {name} from tl.atomic_add, which programs reach in any order, so "
                    "results come in any order: a prefix sum (scan) of all programs' counts gives each its place."
                )
    return ""


def _derived(kernel: Kernel, pointer: ast.expr, name: str) -> bool:
    return any(
        name in names_in(kernel.assigned[used]) for used in names_in(pointer) if used in kernel.assigned
    )
