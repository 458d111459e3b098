"""Grids with too few programs, or along the wrong axis."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from grader.judge.explaining.triton.expressions import names_in
from grader.judge.explaining.triton.program import Program
from grader.judge.explaining.triton.source import Kernel, Launch, TritonSource, argument, operation_of, walk
from grader.judge.explaining.wrong import Pattern
from grader.judge.messages import Failure
from grader.schemas.report import Mismatch


def grid_too_small(program: Program, pattern: Pattern | None, mismatch: Mismatch) -> str:
    if mismatch.kind != "unwritten" and (pattern is None or pattern.kind not in ("tail", "zeros")):
        return ""
    for launch in program.source.launches:
        kernel, axes = launch.kernel, launch.axes
        stores = [access for access in kernel.accesses if access.operation == "store"]
        grid = program.grid_of(launch)
        if not stores:
            continue
        if _is_one(grid.body if isinstance(grid, ast.Lambda) else grid):
            looped = any(isinstance(node, (ast.For, ast.While)) for node in walk(*kernel.node.body))
            if (
                mismatch.kind == "unwritten"
                and kernel.program_axes
                and not looped
                and len(program.source.launches) == 1
            ):
                return (
                    f"The grid in line {launch.line} has only one program, and the kernel {kernel.name} uses "
                    "tl.program_id for more: one program is needed for each row or block."
                )
            continue
        if not kernel.program_axes and not _calls_helpers(kernel, program.source):
            return (
                f"The kernel {kernel.name} never uses tl.program_id, so every program of the grid in line "
                f"{launch.line} does the same work: add tl.program_id(0) * BLOCK to the offsets."
            )
        unknown = [axis for axis in kernel.program_axes if axis is not None and axes and axis >= axes]
        if unknown:
            return (
                f"The kernel {kernel.name} uses tl.program_id({unknown[0]}), but the grid in line {launch.line} "
                f"has {axes} dimension{'s' * (axes > 1)}: there it is always 0."
            )
        if axes > 1 and None not in kernel.program_axes and not _calls_helpers(kernel, program.source):
            missing = [
                axis
                for axis in range(axes)
                if axis not in kernel.program_axes and not _is_one_at(launch, axis)
            ]
            if missing:
                return (
                    f"The grid in line {launch.line} has {axes} dimensions, but the kernel {kernel.name} never "
                    f"uses tl.program_id({missing[0]}): programs along that axis do the same work."
                )
    for launch in program.source.launches:
        if divided := _divided_down(program.grid_of(launch)):
            return (
                f"The grid in line {launch.line} rounds down ({divided}), so the last, partial block has no "
                "program: use triton.cdiv."
            )
    return ""


def offset_of_program(program: Program, pattern: Pattern | None, mismatch: Mismatch) -> str:
    """Blocks overlap if a program id has no factor."""
    if mismatch.kind != "unwritten" and (pattern is None or pattern.kind not in ("tail", "zeros")):
        return ""
    for kernel in program.source.kernels.values():
        assigned = kernel.assigned

        def is_(node: ast.expr, operation: str, assigned: Mapping[str, ast.expr] = assigned) -> bool:
            if isinstance(node, ast.Name):
                node = assigned.get(node.id, node)
            return operation_of(node) == operation

        for node in walk(*kernel.node.body):
            match node:
                case ast.BinOp(left=left, op=ast.Add(), right=right):
                    for one, other in ((left, right), (right, left)):
                        if is_(one, "program_id") and is_(other, "arange"):
                            return (
                                f"Line {node.lineno} adds tl.program_id to tl.arange as it is, so programs begin one "
                                "element apart and overlap: multiply it by the size of the block."
                            )
    return ""


def axes_of_programs(program: Program, pattern: Pattern | None, mismatch: Mismatch) -> str:
    for launch in program.source.launches:
        kernel, grid = launch.kernel, program.grid_of(launch)
        grid = grid.body if isinstance(grid, ast.Lambda) else grid
        if not isinstance(grid, ast.Tuple) or (axes := len(grid.elts)) < 2:
            continue
        counted = [names_in(element) for element in grid.elts]
        for vector, axis, bound in _bounded_by_programs(kernel):
            value = launch.given.get(bound)
            if not isinstance(value, ast.Name) or axis >= axes or value.id in counted[axis]:
                continue
            other = next((place for place, names in enumerate(counted) if value.id in names), None)
            if other is not None:
                return (
                    f"{vector} is computed from tl.program_id({axis}) and compared with {bound}, but axis {axis} "
                    f"of the grid in line {grid.lineno} is {ast.unparse(grid.elts[axis])}: {value.id} is on axis "
                    f"{other}."
                )
    return ""


def no_grid(program: Program, failure: Failure, line: int) -> str:
    solve = program.source.solve
    for node in walk(*solve.body) if solve is not None else ():
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in program.source.kernels
        ):
            name = node.func.id
            return (
                f"Line {node.lineno} calls the kernel {name} like a function: a launch needs its grid in brackets, "
                f"{name}[(triton.cdiv(n, BLOCK),)](...)."
            )
    return ""


def grid_not_a_tuple(program: Program, failure: Failure, line: int) -> str:
    if "not iterable" not in failure.message and "not subscriptable" not in failure.message:
        return ""
    for launch in program.source.launches:
        if launch.line <= line <= launch.line + 8:
            grid = ast.unparse(program.grid_of(launch))
            if not isinstance(program.grid_of(launch), (ast.Tuple, ast.List)):
                return (
                    f"The grid of the launch in line {launch.line} is the number {grid}: it must be a tuple, with one "
                    f"number for each axis, {launch.kernel.name}[({ast.unparse(launch.grid)},)](...)."
                )
    return ""


def _is_one(grid: ast.expr) -> bool:
    parts = grid.elts if isinstance(grid, ast.Tuple) else [grid]
    return all(isinstance(part, ast.Constant) and part.value == 1 for part in parts)


def _is_one_at(launch: Launch, axis: int) -> bool:
    grid = launch.grid.body if isinstance(launch.grid, ast.Lambda) else launch.grid
    return isinstance(grid, ast.Tuple) and _is_one(grid.elts[axis])


def _calls_helpers(kernel: Kernel, source: TritonSource) -> bool:
    """The other function may use it."""
    return any(isinstance(node, ast.Name) and node.id in source.kernels for node in walk(*kernel.node.body))


def _divided_down(grid: ast.expr) -> str:
    """A division that rounds down, with nothing added to the result."""
    grid = grid.body if isinstance(grid, ast.Lambda) else grid
    for part in grid.elts if isinstance(grid, ast.Tuple) else [grid]:
        if any(
            isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and _divides(node)
            for node in walk(part)
        ):
            continue
        for node in walk(part):
            match node:
                case ast.BinOp(left=ast.BinOp() | ast.UnaryOp()):
                    continue
                case ast.BinOp(op=ast.FloorDiv()):
                    return ast.unparse(node)
    return ""


def _divides(tree: ast.AST) -> bool:
    return any(isinstance(node, ast.FloorDiv) for node in walk(tree))


def _bounded_by_programs(kernel: Kernel) -> Iterator[tuple[str, int, str]]:
    """Indices, their program id's axis, and their bound."""
    assigned = kernel.assigned
    axes: dict[str, set[int]] = {}
    for _ in range(3):
        for name, value in assigned.items():
            found = set()
            for node in walk(value):
                asks = operation_of(node) == "program_id"
                axis = argument(node, 0, "axis") if isinstance(node, ast.Call) and asks else None
                if isinstance(axis, ast.Constant) and isinstance(axis.value, int):
                    found.add(axis.value)
                if isinstance(node, ast.Name) and node.id != name:
                    found |= axes.get(node.id, set())
            axes[name] = found
    for node in walk(*kernel.node.body):
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Lt):
            bound, names = node.comparators[0], names_in(node.left)
            if isinstance(bound, ast.Name) and bound.id in kernel.parameters and len(names) == 1:
                name = names.pop()
                if len(axes.get(name, ())) == 1:
                    yield name, next(iter(axes[name])), bound.id
