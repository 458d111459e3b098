"""Reads kernels, accesses and launches from a syntax tree. Nothing is executed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

# Rules compare all pairs.
_MOST_CHARS, _MOST_ACCESSES = 1 << 16, 200
_LOADS = ("load", "store", "atomic_add", "atomic_max", "atomic_min", "atomic_cas", "atomic_xchg", "atomic_and",
          "atomic_or", "atomic_xor")  # fmt: skip


@dataclass(frozen=True)
class Access:
    line: int
    #: load, store or an atomic.
    operation: str
    #: Empty if the pointer has no single origin.
    parameter: str
    pointer: ast.expr
    mask: ast.expr | None = None
    other: ast.expr | None = None


@dataclass
class Kernel:
    node: ast.FunctionDef
    accesses: list[Access] = field(default_factory=list)
    #: None if not a literal.
    program_axes: list[int | None] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def parameters(self) -> list[str]:
        arguments = self.node.args
        return [
            parameter.arg for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        ]

    @property
    def constants(self) -> set[str]:
        arguments = self.node.args
        every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        return {
            parameter.arg
            for parameter in every
            if parameter.annotation is not None and "constexpr" in ast.unparse(parameter.annotation)
        }

    @cached_property
    def assigned(self) -> dict[str, ast.expr]:
        """Name -> its last value."""
        return {
            node.targets[0].id: node.value
            for node in walk(*self.node.body)
            if isinstance(node, ast.Assign)
            and len(node.targets) == 1
            and isinstance(node.targets[0], ast.Name)
        }

    @cached_property
    def values(self) -> dict[str, ast.expr]:
        """Values that do not depend on the name's earlier value."""
        return {
            name: value
            for name, value in self.assigned.items()
            if not any(isinstance(node, ast.Name) and node.id == name for node in walk(value))
        }

    @cached_property
    def conditions(self) -> dict[str, ast.expr]:
        """Masks and pointers, not indices."""
        return {
            name: value
            for name, value in self.values.items()
            if any(isinstance(node, (ast.Compare, ast.Subscript)) for node in walk(value))
        }

    @property
    def used(self) -> set[str]:
        return {
            node.id
            for node in walk(*self.node.body)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        }


@dataclass(frozen=True)
class Launch:
    line: int
    kernel: Kernel
    grid: ast.expr
    given: dict[str, ast.expr]

    @property
    def axes(self) -> int:
        """The grid's dimensions; 0 if unknown."""
        grid = self.grid.body if isinstance(self.grid, ast.Lambda) else self.grid
        return len(grid.elts) if isinstance(grid, ast.Tuple) else 0


@dataclass
class TritonSource:
    kernels: dict[str, Kernel] = field(default_factory=dict)
    launches: list[Launch] = field(default_factory=list)
    solve: ast.FunctionDef | None = None
    lines: list[str] = field(default_factory=list)
    tree: ast.Module = field(default_factory=lambda: ast.Module([], []))

    def kernel_at(self, line: int) -> Kernel | None:
        return next(
            (
                kernel
                for kernel in self.kernels.values()
                if kernel.node.lineno <= line <= (kernel.node.end_lineno or 0)
            ),
            None,
        )

    def accesses_at(self, line: int) -> list[Access]:
        return [
            access for kernel in self.kernels.values() for access in kernel.accesses if access.line == line
        ]


def walk(*nodes: ast.AST) -> Iterator[ast.AST]:
    pending = list(reversed(nodes))
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(list(ast.iter_child_nodes(node))))


def operation_of(call: ast.AST) -> str:
    if (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
    ):
        return call.func.attr if call.func.value.id in ("tl", "language", "libdevice") else ""
    return ""


def argument(call: ast.Call, place: int, name: str) -> ast.expr | None:
    named = next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
    return named if named is not None else call.args[place] if len(call.args) > place else None


def read(source: str) -> TritonSource | None:
    if len(source) > _MOST_CHARS:
        return None
    try:
        tree = ast.parse(source)
        found = _read(tree, source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return found if sum(len(kernel.accesses) for kernel in found.kernels.values()) <= _MOST_ACCESSES else None


def _read(tree: ast.Module, source: str) -> TritonSource:
    found = TritonSource(lines=source.split("\n"), tree=tree)
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef):
            continue
        if any("jit" in ast.unparse(decorator) for decorator in node.decorator_list):
            found.kernels[node.name] = _kernel(node)
        if node.name == "solve":
            found.solve = node
    for call in walk(tree):
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Subscript)
            and isinstance(call.func.value, ast.Name)
        ):
            kernel = found.kernels.get(call.func.value.id)
            if kernel is not None:
                found.launches.append(_launch(call, call.func.slice, kernel))
    return found


def _kernel(node: ast.FunctionDef) -> Kernel:
    kernel = Kernel(node)
    origins: dict[str, str] = {parameter: parameter for parameter in kernel.parameters}
    for inner in walk(*node.body):
        if (
            isinstance(inner, ast.Assign)
            and len(inner.targets) == 1
            and isinstance(inner.targets[0], ast.Name)
        ):
            # A moved pointer keeps its origin; a loaded value has none.
            origin = _origin(inner.value, origins)
            if origin not in (None, inner.targets[0].id) or inner.targets[0].id not in kernel.parameters:
                origins[inner.targets[0].id] = origin or ""
        operation = operation_of(inner)
        if operation == "program_id" and isinstance(inner, ast.Call):
            axis = argument(inner, 0, "axis")
            value = axis.value if isinstance(axis, ast.Constant) else None
            kernel.program_axes.append(value if isinstance(value, int) else None)
        if operation in _LOADS and isinstance(inner, ast.Call) and inner.args:
            places = {"load": (1, 2), "store": (2, 99)}.get(operation, (2, 99))
            kernel.accesses.append(
                Access(
                    inner.lineno,
                    operation,
                    _origin(inner.args[0], origins) or "",
                    inner.args[0],
                    argument(inner, places[0], "mask"),
                    argument(inner, places[1], "other"),
                )
            )
    return kernel


def _origin(pointer: ast.expr, origins: dict[str, str]) -> str | None:
    """Triton writes the pointer first."""
    while isinstance(pointer, (ast.BinOp, ast.Subscript)):
        pointer = pointer.left if isinstance(pointer, ast.BinOp) else pointer.value
    return origins.get(pointer.id) if isinstance(pointer, ast.Name) else None


def _launch(call: ast.Call, grid: ast.expr, kernel: Kernel) -> Launch:
    given = dict(zip(kernel.parameters, call.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    return Launch(call.lineno, kernel, grid, given)
