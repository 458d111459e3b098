"""A Triton kernel's tile: indices along its axes, and lanes beyond the data."""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from grader.challenge.dtypes import DType

# Larger finite numbers serve as infinity.
AS_INFINITE = 1e9

HALVES = tuple(dtype for dtype in DType if dtype.half)


@dataclass(frozen=True)
class Axis:
    #: Its vector of indices.
    name: str = ""
    #: Program ids in these indices.
    programs: frozenset[str] = frozenset()
    #: Extent 1: fits every other axis.
    one: bool = False

    def clashes(self, other: Axis) -> bool:
        """True if they certainly index different things."""
        known = bool(self.programs) and bool(other.programs) and self.name != other.name
        return known and not (self.one or other.one) and not self.programs & other.programs


ONE = Axis(one=True)


@dataclass(frozen=True)
class Padding:
    """Lanes beyond the data along one axis."""

    #: None if unknown.
    value: float | None
    #: The line of the load.
    line: int
    #: No ``other``: undefined, but 0 in practice.
    missing: bool = False


Paddings = dict[int, Padding]


@dataclass(frozen=True)
class Tile:
    #: None if unknown.
    axes: tuple[Axis, ...] | None = None
    #: By axis, if a mask bounds it.
    paddings: Paddings = field(default_factory=dict)
    #: Axes with a condition.
    masks: frozenset[int] = frozenset()
    half: bool = False
    #: The value of every lane.
    constant: float | None = None
    #: After a reduction: the axis left, its line and name.
    left: tuple[int, int, str] | None = None
    #: The line that filled it with a number.
    begins: int = 0
    #: Program ids that a number depends on.
    programs: frozenset[str] = frozenset()
    pointer: bool = False
    #: 0 or 1: a product with it selects lanes.
    condition: bool = False


def number_of(node: ast.expr | None) -> float | None:
    match node:
        case ast.Constant(value=int() | float() as value):
            return float(value) if isinstance(value, float) or abs(value) <= sys.float_info.max else None
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            positive = number_of(operand)
            return -positive if positive is not None else None
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str() as text)]):
            return {"inf": math.inf, "-inf": -math.inf}.get(text.lower())
        case ast.Attribute(value=ast.Name(id="math"), attr="inf"):
            return math.inf
    return None


def is_half(dtype: ast.expr | None) -> bool:
    return isinstance(dtype, ast.Attribute) and dtype.attr in HALVES


def transposed(tile: Tile) -> Tile:
    if tile.axes is None or len(tile.axes) != 2:
        return Tile(half=tile.half)
    return Tile(axes=tile.axes[::-1], paddings=moved_paddings(tile.paddings, {0: 1, 1: 0}), half=tile.half)


def moved_paddings(paddings: Paddings, places: dict[int, int]) -> Paddings:
    return {places[axis]: padding for axis, padding in paddings.items() if axis in places}


def mapped(tile: Tile, function: Callable[[float], float]) -> Tile:
    def applied(value: float | None) -> float | None:
        try:
            return None if value is None else function(value)
        except (ValueError, OverflowError):
            return None

    paddings = {
        axis: replace(padding, value=applied(padding.value)) for axis, padding in tile.paddings.items()
    }
    return replace(tile, paddings=paddings, constant=applied(tile.constant))


def computed(op: ast.operator, a: float | None, b: float | None) -> float | None:
    if a is None or b is None:
        return None
    try:
        match op:
            case ast.Add():
                found = a + b
            case ast.Sub():
                found = a - b
            case ast.Mult():
                found = a * b
            case ast.Div():
                found = a / b
            case _:
                return None
    except (ZeroDivisionError, OverflowError):
        return None
    return None if math.isnan(found) else found


def combined_paddings(op: ast.operator, a: Tile, b: Tile) -> Paddings:
    found = {axis: _combined_padding(op, a, b, axis) for axis in set(a.paddings) | set(b.paddings)}
    if isinstance(op, ast.Mult) and (a.condition or b.condition):
        return {axis: padding for axis, padding in found.items() if padding.value is not None}
    return found


def _combined_padding(op: ast.operator, a: Tile, b: Tile, axis: int) -> Padding:
    """Valid for any finite data."""
    values = [tile.paddings[axis].value if axis in tile.paddings else tile.constant for tile in (a, b)]
    known = [axis in tile.paddings or tile.constant is not None for tile in (a, b)]
    value: float | None = None
    if all(known):
        value = 0.0 if 0.0 in values and isinstance(op, ast.Mult) else computed(op, *values)
    else:
        only, first = (values[0], True) if known[0] else (values[1], False)
        infinite = only is not None and (math.isinf(only) or abs(only) >= AS_INFINITE)
        match op:
            case ast.Mult() if only == 0:
                value = 0.0
            case ast.Div() if only == 0 and first:
                value = 0.0
            case ast.Add() if infinite:
                value = only
            case ast.Sub() if infinite and only is not None:
                value = only if first else -only
    return replace(a.paddings.get(axis) or b.paddings[axis], value=value)
