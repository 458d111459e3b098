"""What a Triton source says of itself, read from its syntax tree. Nothing of it is executed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

# No kernel that a person wrote is longer or has more loads and stores, and more is not worth the judge's time, as rules
# look at each access beside all else.
_MOST_CHARS, _MOST_ACCESSES = 1 << 16, 200
_LOADS = ("load", "store", "atomic_add", "atomic_max", "atomic_min", "atomic_cas", "atomic_xchg", "atomic_and",
          "atomic_or", "atomic_xor")  # fmt: skip


@dataclass(frozen=True)
class Access:
    """``operation``: load, store or an atomic. ``parameter``: of the kernel, that its pointer comes from; empty where
    that is not one name. ``through``: a tensor descriptor, whose accesses need no mask."""

    line: int
    operation: str
    parameter: str
    pointer: ast.expr
    mask: ast.expr | None = None
    other: ast.expr | None = None


@dataclass
class Kernel:
    """A function under ``triton.jit``."""

    node: ast.FunctionDef
    accesses: list[Access] = field(default_factory=list)
    # Axes that it asks program_id for; None among them: one that is not a number.
    program_axes: list[int | None] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def parameters(self) -> list[str]:
        arguments = self.node.args
        return [it.arg for it in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]

    @property
    def constants(self) -> set[str]:
        """Parameters that are compile-time constants."""
        arguments = self.node.args
        every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        return {
            it.arg for it in every if it.annotation is not None and "constexpr" in ast.unparse(it.annotation)
        }

    @cached_property
    def assigned(self) -> dict[str, ast.expr]:
        """The last value of each name that is given one by itself."""
        return {
            it.targets[0].id: it.value
            for it in walk(*self.node.body)
            if isinstance(it, ast.Assign) and len(it.targets) == 1 and isinstance(it.targets[0], ast.Name)
        }

    @cached_property
    def values(self) -> dict[str, ast.expr]:
        """Of these, what does not come of the name's own value before."""
        return {
            name: value
            for name, value in self.assigned.items()
            if not any(isinstance(it, ast.Name) and it.id == name for it in walk(value))
        }

    @cached_property
    def conditions(self) -> dict[str, ast.expr]:
        """Of these, those that compare or spread: masks and pointers, not indices."""
        return {
            name: value
            for name, value in self.values.items()
            if any(isinstance(it, (ast.Compare, ast.Subscript)) for it in walk(value))
        }

    @property
    def used(self) -> set[str]:
        """Names that its body reads."""
        return {
            it.id for it in walk(*self.node.body) if isinstance(it, ast.Name) and isinstance(it.ctx, ast.Load)
        }


@dataclass(frozen=True)
class Launch:
    """``kernel[grid](...)``. ``given``: what each parameter gets, as far as the call says it."""

    line: int
    kernel: Kernel
    grid: ast.expr
    given: dict[str, ast.expr]

    @property
    def axes(self) -> int:
        """How many dimensions the grid has; 0: the source does not say."""
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
        """The kernel that a line lies in."""
        return next(
            (it for it in self.kernels.values() if it.node.lineno <= line <= (it.node.end_lineno or 0)), None
        )

    def accesses_at(self, line: int) -> list[Access]:
        return [it for kernel in self.kernels.values() for it in kernel.accesses if it.line == line]


def walk(*nodes: ast.AST) -> Iterator[ast.AST]:
    """In the order of the text."""
    pending = list(reversed(nodes))
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(list(ast.iter_child_nodes(node))))


def operation_of(call: ast.AST) -> str:
    """``load`` of ``tl.load(...)``; empty for what calls nothing of a module's."""
    if (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
    ):
        return call.func.attr if call.func.value.id in ("tl", "language", "libdevice") else ""
    return ""


def argument(call: ast.Call, place: int, name: str) -> ast.expr | None:
    """What a call passes at that place, or by that name."""
    named = next((it.value for it in call.keywords if it.arg == name), None)
    return named if named is not None else call.args[place] if len(call.args) > place else None


def read(source: str) -> TritonSource | None:
    """None where it is no Python that we read."""
    if len(source) > _MOST_CHARS:
        return None
    try:
        tree = ast.parse(source)
        found = _read(tree, source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return found if sum(len(it.accesses) for it in found.kernels.values()) <= _MOST_ACCESSES else None


def _read(tree: ast.Module, source: str) -> TritonSource:
    found = TritonSource(lines=source.split("\n"), tree=tree)
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef):
            continue
        if any("jit" in ast.unparse(it) for it in node.decorator_list):
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
    origins: dict[str, str] = {it: it for it in kernel.parameters}
    for it in walk(*node.body):
        if isinstance(it, ast.Assign) and len(it.targets) == 1 and isinstance(it.targets[0], ast.Name):
            # A pointer that is moved keeps its origin; what is loaded has none.
            origin = _origin(it.value, origins)
            if origin not in (None, it.targets[0].id) or it.targets[0].id not in kernel.parameters:
                origins[it.targets[0].id] = origin or ""
        operation = operation_of(it)
        if operation == "program_id" and isinstance(it, ast.Call):
            axis = argument(it, 0, "axis")
            value = axis.value if isinstance(axis, ast.Constant) else None
            kernel.program_axes.append(value if isinstance(value, int) else None)
        if operation in _LOADS and isinstance(it, ast.Call) and it.args:
            places = {"load": (1, 2), "store": (2, 99)}.get(operation, (2, 99))
            kernel.accesses.append(
                Access(
                    it.lineno,
                    operation,
                    _origin(it.args[0], origins) or "",
                    it.args[0],
                    argument(it, places[0], "mask"),
                    argument(it, places[1], "other"),
                )
            )
    return kernel


def _origin(pointer: ast.expr, origins: dict[str, str]) -> str | None:
    """The parameter that a pointer's arithmetic begins with: Triton writes it first."""
    while isinstance(pointer, (ast.BinOp, ast.Subscript)):
        pointer = pointer.left if isinstance(pointer, ast.BinOp) else pointer.value
    return origins.get(pointer.id) if isinstance(pointer, ast.Name) else None


def _launch(call: ast.Call, grid: ast.expr, kernel: Kernel) -> Launch:
    given = dict(zip(kernel.parameters, call.args, strict=False))
    given |= {it.arg: it.value for it in call.keywords if it.arg}
    return Launch(call.lineno, kernel, grid, given)
