"""Follows a Triton kernel's tiles: lanes beyond the data, axes, and sums' precision.

Reads each line once and executes nothing; what it does not understand is unknown.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from grader.challenge.dtypes import DType
from grader.judge.explaining.triton.source import Kernel, argument, operation_of
from grader.judge.explaining.triton.tile import (
    AS_INFINITE,
    HALVES,
    ONE,
    Axis,
    Padding,
    Tile,
    combined_paddings,
    computed,
    is_half,
    mapped,
    moved_paddings,
    number_of,
    transposed,
)

_UNARY: dict[str, Callable[[float], float]] = {
    "exp": math.exp, "exp2": lambda x: 2.0**x, "abs": abs, "sqrt": math.sqrt, "log": math.log,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
}  # fmt: skip

_NEUTRAL = {
    "sum": 0.0, "cumsum": 0.0, "xor_sum": 0.0, "dot": 0.0,
    "max": -math.inf, "argmax": -math.inf, "min": math.inf, "argmin": math.inf,
}  # fmt: skip

_HALF = " or ".join(HALVES)


@dataclass(frozen=True)
class Finding:
    #: neutral, axes, broadcast or half_sum.
    kind: str
    line: int
    text: str


@dataclass
class _Reader:
    kernel: Kernel
    pointers: Mapping[str, DType | None]
    constants: dict[str, float]
    names: dict[str, Tile] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    loops: int = 0

    def run(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self._statement(statement)

    def _statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)]):
                self._bind(name, statement.value, self._tile(statement.value))
            case ast.AnnAssign(target=ast.Name(id=name)) if statement.value is not None:
                self._bind(name, statement.value, self._tile(statement.value))
            case ast.Assign():
                self._tile(statement.value)
                for target in statement.targets:
                    for part in ast.walk(target):
                        if isinstance(part, ast.Name):
                            self.names[part.id] = Tile()
            case ast.AugAssign(target=ast.Name(id=name)):
                self._add_up(name, statement)
            case ast.For():
                self.loops += 1
                if isinstance(statement.target, ast.Name):
                    self.names[statement.target.id] = Tile(axes=())
                self.run(statement.body)
                self.loops -= 1
            case ast.While():
                self.loops += 1
                self.run(statement.body)
                self.loops -= 1
            case ast.If():
                self.run(statement.body)
                self.run(statement.orelse)
            case ast.Expr() | ast.Return() if statement.value is not None:
                self._tile(statement.value)

    def _bind(self, name: str, value: ast.expr, tile: Tile) -> None:
        axes = tile.axes
        if (axes is not None and len(axes) == 1 and not tile.pointer and axes[0].name in ("", "arange")) or (
            axes is not None and len(axes) == 1 and axes[0].programs and not tile.pointer and _is_index(value)
        ):
            tile = replace(tile, axes=(replace(axes[0], name=name),))
        if (
            axes == ()
            and tile.programs
            and any(isinstance(node, (ast.FloorDiv, ast.Mod)) for node in ast.walk(value))
        ):
            # A row and column from one number.
            tile = replace(tile, programs=frozenset({name}))
        self._check_half(name, value, tile)
        self.names[name] = tile

    def _add_up(self, name: str, statement: ast.AugAssign) -> None:
        before = self.names.get(name, Tile())
        added = self._tile(statement.value)
        tile = self._combine(statement.op, before, added, statement.lineno)
        if before.constant == 0 and isinstance(statement.op, ast.Add) and added.paddings:
            tile = replace(tile, paddings=added.paddings)
        values = before.half and not before.pointer
        if self.loops and isinstance(statement.op, ast.Add) and values and before.begins:
            self._find("half_sum", statement.lineno, f"{name}, which line {before.begins} makes {_HALF}")
        self.names[name] = replace(tile, half=before.half, begins=before.begins, pointer=before.pointer)

    def _check_half(self, name: str, value: ast.expr, tile: Tile) -> None:
        """``acc = acc + x`` and ``acc = tl.dot(x, y, acc)`` in a loop."""
        before = self.names.get(name)
        if not self.loops or before is None or not before.half or not before.begins or not tile.half:
            return
        if any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(value)):
            self._find("half_sum", value.lineno, f"{name}, which line {before.begins} makes {_HALF}")

    def _find(self, kind: str, line: int, text: str) -> None:
        found = Finding(kind, line, text)
        if found not in self.findings:
            self.findings.append(found)

    def _tile(self, expression: ast.expr) -> Tile:
        match expression:
            case ast.Constant(value=bool()):
                return Tile(axes=())
            case ast.Constant(value=int() | float()):
                return Tile(axes=(), constant=number_of(expression))
            case ast.Name(id=name):
                return self._named(name)
            case ast.UnaryOp(operand=operand):
                return self._negated(expression, self._tile(operand))
            case ast.BinOp(left=left, op=op, right=right):
                return self._combine(op, self._tile(left), self._tile(right), expression.lineno)
            case ast.Compare(left=left, comparators=[right]):
                return self._compared(self._tile(left), self._tile(right), expression.lineno)
            case ast.BoolOp(values=values):
                for value in values:
                    self._tile(value)
                return Tile()
            case ast.Subscript(value=value):
                return self._indexed(self._tile(value), expression.slice)
            case ast.Call():
                return self._called(expression)
            case ast.Attribute(value=value, attr="T"):
                return transposed(self._tile(value))
            case ast.IfExp(body=body, orelse=orelse):
                self._tile(orelse)
                return self._tile(body)
        return Tile()

    def _named(self, name: str) -> Tile:
        if name in self.names:
            return self.names[name]
        if name in self.pointers:
            return Tile(axes=(), pointer=True, half=self.pointers[name] in HALVES)
        if name in self.constants:
            return Tile(axes=(), constant=self.constants[name])
        if name in self.kernel.parameters:
            return Tile(axes=())
        return Tile()

    def _negated(self, operation: ast.UnaryOp, tile: Tile) -> Tile:
        if isinstance(operation.op, ast.USub):
            return mapped(tile, lambda value: -value)
        return tile if isinstance(operation.op, (ast.UAdd, ast.Invert)) else Tile(axes=tile.axes)

    def _combine(self, op: ast.operator, a: Tile, b: Tile, line: int) -> Tile:
        constant = computed(op, a.constant, b.constant) if a.axes == () == b.axes else None
        self._check_left(a, b, line)
        self._check_left(b, a, line)
        axes = self._fitted(a.axes, b.axes, line)
        programs = a.programs | b.programs
        pointer = a.pointer or b.pointer
        if axes is not None and len(axes) == 1 and not pointer:
            # A program id shifts a vector of indices.
            axes = (
                replace(axes[0], programs=axes[0].programs | (programs if not axes[0].one else frozenset())),
            )
        half = (
            (a.half or a.constant is not None) and (b.half or b.constant is not None) and (a.half or b.half)
        )
        if pointer:
            half = a.half or b.half
        logical = isinstance(op, (ast.BitAnd, ast.BitOr))
        masks = a.masks | b.masks if logical else frozenset()
        whole = axes is not None and len(axes) == 2 and not any(axis.one for axis in axes)
        return Tile(
            axes, combined_paddings(op, a, b), masks, half, constant, None if whole else a.left or b.left,
            a.begins or b.begins, programs if axes == () else frozenset(), pointer,
            condition=logical and a.condition and b.condition,
        )  # fmt: skip

    def _compared(self, a: Tile, b: Tile, line: int) -> Tile:
        axes = self._fitted(a.axes, b.axes, line)
        if axes is None:
            return Tile(condition=True)
        wide = {place for place, axis in enumerate(axes) if not axis.one}
        return Tile(axes=axes, masks=frozenset(wide if len(wide) == 1 else ()), condition=True)

    def _check_left(self, a: Tile, b: Tile, line: int) -> None:
        """A reduction's result is combined with a tile like its source."""
        if a.left is None or a.axes is None or b.axes is None or len(a.axes) != 2 or len(b.axes) != 2:
            return
        placed = [place for place, axis in enumerate(a.axes) if not axis.one]
        if len(placed) != 1 or b.left is not None or any(axis.one for axis in b.axes):
            return
        axis, made, operation = a.left
        if placed[0] != axis:
            kept = ("row", "[:, None]") if axis == 0 else ("column", "[None, :]")
            wrong = "[None, :]" if axis == 0 else "[:, None]"
            self._find(
                "broadcast", line,
                f"Line {line}: tl.{operation} with axis={1 - axis} in line {made} leaves one value for each "
                f"{kept[0]}, but {wrong} spreads it along the other axis: use {kept[1]}",
            )  # fmt: skip

    def _fitted(
        self, a: tuple[Axis, ...] | None, b: tuple[Axis, ...] | None, line: int
    ) -> tuple[Axis, ...] | None:
        if a == () or b == ():
            return b if a == () else a
        if a is None or b is None or len(a) != len(b):
            return None
        for place, (one, other) in enumerate(zip(a, b, strict=True)):
            if one.clashes(other):
                self._find(
                    "axes", line,
                    f"In line {line}, along axis {place}, one operand is indexed by {one.name} and the other by "
                    f"{other.name}",
                )  # fmt: skip
        return tuple(
            one if other.one or (one.programs and not one.one) else other
            for one, other in zip(a, b, strict=True)
        )

    def _indexed(self, tile: Tile, place: ast.expr) -> Tile:
        """``[:, None]``, ``[None, :]`` and the like."""
        parts = place.elts if isinstance(place, ast.Tuple) else [place]
        kinds = ["new" if isinstance(part, ast.Constant) and part.value is None else "kept" for part in parts]
        if (
            tile.axes is None
            or kinds.count("kept") != len(tile.axes)
            or not all(isinstance(part, (ast.Slice, ast.Constant)) for part in parts)
        ):
            return Tile(half=tile.half)
        old = iter(range(len(tile.axes)))
        moved: dict[int, int] = {}
        axes = []
        for here, kind in enumerate(kinds):
            if kind == "new":
                axes.append(ONE)
            else:
                before = next(old)
                moved[before] = here
                axes.append(tile.axes[before])
        return replace(
            tile,
            axes=tuple(axes),
            masks=frozenset(moved[axis] for axis in tile.masks if axis in moved),
            paddings=moved_paddings(tile.paddings, moved),
        )

    def _called(self, call: ast.Call) -> Tile:
        operation = operation_of(call)
        if not operation and isinstance(call.func, ast.Attribute) and not _is_module(call.func.value):
            return self._method(call, call.func)
        if not operation:
            return self._plain_call(call)
        match operation:
            case "program_id":
                axis = argument(call, 0, "axis")
                programs = {f"program_id({axis.value!r})"} if isinstance(axis, ast.Constant) else ()
                return Tile(axes=(), programs=frozenset(programs))
            case "arange":
                return Tile(axes=(Axis("arange"),))
            case "load":
                return self._loaded(call)
            case "store":
                self._stored(call)
                return Tile()
            case "zeros" | "full":
                return self._made(call, operation)
            case "where":
                return self._chosen(call)
            case "dot":
                return self._multiplied(call)
            case "trans" if len(call.args) == 1:
                return transposed(self._tile(call.args[0]))
            case "maximum" | "minimum" if len(call.args) == 2:
                a, b = (self._tile(operand) for operand in call.args)
                return self._extreme(operation, a, b, call.lineno)
        if operation in _NEUTRAL and call.args:
            return self._reduced(call, operation, self._tile(call.args[0]))
        if operation in _UNARY and call.args:
            return mapped(self._tile(call.args[0]), _UNARY[operation])
        tiles = [self._tile(operand) for operand in call.args]
        return Tile(axes=tiles[0].axes if len(tiles) == 1 else None)

    def _method(self, call: ast.Call, method: ast.Attribute) -> Tile:
        tile = self._tile(method.value)
        if method.attr in _NEUTRAL:
            moved = ast.Call(method, [method.value, *call.args], call.keywords)
            return self._reduced(ast.copy_location(moved, call), method.attr, tile)
        if method.attr == "to" and call.args:
            return replace(tile, half=is_half(call.args[0]))
        if method.attr in _UNARY:
            return mapped(tile, _UNARY[method.attr])
        for operand in call.args:
            self._tile(operand)
        return Tile()

    def _plain_call(self, call: ast.Call) -> Tile:
        if isinstance(call.func, ast.Name) and call.func.id == "float" and call.args:
            value = number_of(call)
            return Tile(axes=(), constant=value)
        for operand in call.args:
            self._tile(operand)
        return Tile()

    def _loaded(self, call: ast.Call) -> Tile:
        pointer = self._tile(call.args[0]) if call.args else Tile()
        mask, other = argument(call, 1, "mask"), argument(call, 2, "other")
        if mask is None:
            return Tile(axes=pointer.axes, half=pointer.half)
        bounds = self._tile(mask)
        self._fitted(pointer.axes, bounds.axes, call.lineno)
        value = 0.0 if other is None else self._tile(other).constant
        padding = Padding(value, call.lineno, other is None)
        # As counts and indices, integers are at least 0.
        whole = bool(call.args) and self._is_whole(call.args[0])
        known = (other is None or value is not None) and not whole
        paddings = dict.fromkeys(bounds.masks, padding) if known else {}
        return Tile(axes=pointer.axes, half=pointer.half, paddings=paddings)

    def _is_whole(self, pointer: ast.expr) -> bool:
        names = (node.id for node in ast.walk(pointer) if isinstance(node, ast.Name))
        kinds = [self.pointers[name] for name in names if name in self.pointers]
        return any(dtype is not None and not dtype.floating for dtype in kinds)

    def _stored(self, call: ast.Call) -> None:
        if len(call.args) < 2:
            return
        pointer, value = self._tile(call.args[0]), self._tile(call.args[1])
        if pointer.axes and value.axes and len(pointer.axes) == len(value.axes):
            for place, (to, of) in enumerate(zip(pointer.axes, value.axes, strict=True)):
                if to.clashes(of):
                    turned = len(value.axes) == 2 and not value.axes[1 - place].clashes(to)
                    cure = ": store tl.trans of it, or load it the way it is stored" if turned else ""
                    self._find(
                        "axes", call.lineno,
                        f"In line {call.lineno}, along axis {place}, the pointers are indexed by {to.name} and the "
                        f"value by {of.name}{cure}",
                    )  # fmt: skip
                    return
        if mask := argument(call, 2, "mask"):
            self._fitted(pointer.axes, self._tile(mask).axes, call.lineno)

    def _made(self, call: ast.Call, operation: str) -> Tile:
        shape = argument(call, 0, "shape")
        parts = shape.elts if isinstance(shape, (ast.Tuple, ast.List)) else [shape]
        value = argument(call, 1, "value") if operation == "full" else ast.Constant(0.0)
        dtype = argument(call, 1 if operation == "zeros" else 2, "dtype")
        constant = self._tile(value).constant if value is not None else None
        return Tile(
            axes=tuple(Axis() for _ in parts), constant=constant, half=is_half(dtype), begins=call.lineno
        )

    def _chosen(self, call: ast.Call) -> Tile:
        if len(call.args) != 3:
            return Tile()
        bounds, a, b = (self._tile(operand) for operand in call.args)
        axes = self._fitted(bounds.axes, a.axes, call.lineno) if a.axes != () else bounds.axes
        paddings = {}
        if bounds.masks or b.constant is not None:
            for axis in bounds.masks | set(a.paddings):
                of_b = b.paddings[axis].value if axis in b.paddings else b.constant
                if of_b is not None:
                    paddings[axis] = Padding(
                        of_b, a.paddings[axis].line if axis in a.paddings else call.lineno
                    )
        return Tile(axes=axes, paddings=paddings, half=a.half or b.half, left=a.left)

    def _multiplied(self, call: ast.Call) -> Tile:
        if len(call.args) < 2:
            return Tile()
        a, b = (self._tile(operand) for operand in call.args[:2])
        sum_so_far = argument(call, 2, "acc")
        before = self._tile(sum_so_far) if sum_so_far is not None else None
        for tile, axis, other in ((a, 1, b), (b, 0, a)):
            if 1 - axis not in other.paddings or other.paddings[1 - axis].value != 0:
                self._check_padding("dot", tile, (axis,), call.lineno)
        kind = argument(call, 99, "out_dtype")
        half = before.half if before is not None and kind is None else kind is not None and is_half(kind)
        if kind is not None and half:
            self._find("half_sum", call.lineno, f"tl.dot, to which out_dtype gives {_HALF}")
        if a.axes is None or b.axes is None or len(a.axes) != 2 or len(b.axes) != 2:
            return Tile(half=half, begins=before.begins if before else 0)
        return Tile(axes=(a.axes[0], b.axes[1]), half=half, begins=before.begins if before else 0)

    def _extreme(self, operation: str, a: Tile, b: Tile, line: int) -> Tile:
        pick = max if operation == "maximum" else min
        axes = self._fitted(a.axes, b.axes, line)
        paddings = {}
        for axis in set(a.paddings) | set(b.paddings):
            origin = a.paddings.get(axis) or b.paddings[axis]
            values = [
                tile.paddings[axis].value if axis in tile.paddings else tile.constant for tile in (a, b)
            ]
            known = [value for value in values if value is not None]
            if len(known) == 2:
                paddings[axis] = replace(origin, value=pick(known))
        return Tile(axes=axes, paddings=paddings, half=a.half and b.half)

    def _reduced(self, call: ast.Call, operation: str, tile: Tile) -> Tile:
        axis = argument(call, 1, "axis")
        if operation == "cumsum" and axis is None:
            axis = ast.Constant(0)
        value = number_of(axis) if axis is not None else None
        rank = len(tile.axes) if tile.axes is not None else 0
        if axis is not None and (value is None or not -rank <= value < rank):
            return Tile()
        gone = tuple(range(rank)) if value is None else (int(value) % rank,)
        if operation != "cumsum":
            self._check_padding(operation, tile, gone, call.lineno)
        if operation == "sum" and tile.half and tile.axes:
            self._find("half_sum", call.lineno, f"tl.sum of values that are {_HALF}")
        if operation == "cumsum" or tile.axes is None:
            return Tile(axes=tile.axes)
        kept = [place for place in range(rank) if place not in gone]
        left = (kept[0], call.lineno, operation) if rank == 2 and len(kept) == 1 else None
        moved = {place: number for number, place in enumerate(kept)}
        return Tile(
            axes=tuple(tile.axes[axis] for axis in kept),
            paddings=moved_paddings(tile.paddings, moved),
            left=left,
        )

    def _check_padding(self, operation: str, tile: Tile, gone: tuple[int, ...], line: int) -> None:
        padding = next((tile.paddings[axis] for axis in gone if axis in tile.paddings), None)
        if padding is None:
            return
        neutral, value = _NEUTRAL[operation], padding.value
        if value is not None and (
            value == neutral or (math.isinf(neutral) and value * neutral >= AS_INFINITE)
        ):
            return
        if operation.startswith("arg") and value is not None and math.isinf(value):
            return
        wanted = {0.0: "0", -math.inf: '-float("inf")', math.inf: 'float("inf")'}[neutral]
        if value is None:
            said = (
                f"tl.{operation} in line {line} also uses the lanes outside the mask: line {padding.line} fills them, "
                f"and by then they no longer hold {wanted}. Put tl.where(mask, ..., {wanted}) before it"
            )
        elif padding.missing:
            said = (
                f"The load in line {padding.line} has a mask but no other=, so the lanes outside the mask hold "
                f"{value:g} or anything else, and tl.{operation} in line {line} also uses them. Pass other={wanted} "
                "there"
            )
        else:
            said = (
                f"The lanes outside the mask hold {value:g} (line {padding.line}), and tl.{operation} in line {line} "
                f"also uses them: there they must hold {wanted}"
            )
        self._find("neutral", line, said)


def findings_of(
    kernel: Kernel, pointers: Mapping[str, DType | None], constants: dict[str, float]
) -> list[Finding]:
    """``pointers``: parameters, with element types if known; ``constants``: the module's numbers."""
    reader = _Reader(kernel, pointers, constants)
    try:
        reader.run(kernel.node.body)
    except RecursionError:
        return []
    return reader.findings


def constants_of(tree: ast.Module) -> dict[str, float]:
    """``NAME = 1.0`` and ``NAME = tl.constexpr(-float("inf"))``."""
    found = {}
    for node in tree.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            value = node.value
            if isinstance(value, ast.Call) and operation_of(value) == "constexpr" and value.args:
                value = value.args[0]
            plain = number_of(value)
            if isinstance(target, ast.Name) and plain is not None:
                found[target.id] = plain
    return found


def _is_module(node: ast.expr) -> bool:
    """Such as ``tl.extra.cuda.libdevice``."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in ("tl", "triton", "libdevice", "math")


def _is_index(value: ast.expr) -> bool:
    """True if indices are created there, not shifted."""
    return any(operation_of(node) == "arange" for node in ast.walk(value))
