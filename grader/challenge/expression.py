"""Expressions in sizes ("2*m*n*k") and conditions on them ("k <= cols"): parsed and checked, never
``eval``ed.
"""

from __future__ import annotations

import ast
import functools
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_CALLS: dict[str, Callable[[float, float], float]] = {
    "min": min,
    "max": max,
    "cdiv": lambda a, b: -(-a // b),
}
_COMPARE: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
# Limits the parser's recursion; a fused kernel's cost takes some 60 characters.
_MAX_CHARS = 200


class ExpressionError(ValueError):
    """The message names the part and the reason."""


@dataclass(frozen=True)
class Expression:
    text: str
    tree: ast.expr
    names: frozenset[str]

    def __call__(self, sizes: Mapping[str, float]) -> float:
        try:
            return _evaluate(self.tree, sizes)
        except ZeroDivisionError as error:
            raise ExpressionError(f"'{self.text}' divides by zero at {dict(sizes)}") from error
        except OverflowError as error:
            raise ExpressionError(f"'{self.text}' is too large at {dict(sizes)}") from error

    def integer(self, sizes: Mapping[str, int]) -> int:
        """As a dimension. Raises ExpressionError if it is not a whole number >= 0."""
        value = self(sizes)
        if not math.isfinite(value) or value != int(value) or value < 0:
            raise ExpressionError(
                f"'{self.text}' is {value} at {dict(sizes)}: a dimension is a whole number >= 0"
            )
        return int(value)


@functools.lru_cache(maxsize=4096)
def parse(text: str) -> Expression:
    """Numbers, names, + - * / // %, min, max, cdiv, parentheses. Raises ExpressionError."""
    if len(text) > _MAX_CHARS:
        raise ExpressionError(f"an expression has at most {_MAX_CHARS} characters, this one {len(text)}")
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ExpressionError(f"'{text}' is not an expression") from error
    names: set[str] = set()
    _check(tree, text, names)
    return Expression(text, tree, frozenset(names))


@dataclass(frozen=True)
class Condition:
    """Such as ``1 <= k <= cols``. ``names``: the sizes in it."""

    text: str
    sides: tuple[Expression, ...]
    compare: tuple[Callable[[float, float], bool], ...]

    @property
    def names(self) -> frozenset[str]:
        return frozenset().union(*(side.names for side in self.sides))

    def __call__(self, sizes: Mapping[str, float]) -> bool:
        """Raises ExpressionError if a side cannot be computed."""
        values = [side(sizes) for side in self.sides]
        return all(
            compare(left, right)
            for compare, left, right in zip(self.compare, values, values[1:], strict=False)
        )


@functools.lru_cache(maxsize=1024)
def parse_condition(text: str) -> Condition:
    """Expressions with <, <=, >, >=, == or != between them. Raises ExpressionError."""
    try:
        tree = ast.parse(text, mode="eval").body if len(text) <= _MAX_CHARS else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        tree = None
    if not isinstance(tree, ast.Compare) or any(type(compare) not in _COMPARE for compare in tree.ops):
        raise ExpressionError(f"'{text}' is not a condition: write one such as k <= cols or cols % 2 == 0")
    sides = tuple(parse(ast.unparse(side)) for side in (tree.left, *tree.comparators))
    return Condition(text, sides, tuple(_COMPARE[type(compare)] for compare in tree.ops))


def _check(node: ast.expr, text: str, names: set[str]) -> None:
    match node:
        case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
            pass
        case ast.Name():
            names.add(node.id)
        case ast.BinOp() if type(node.op) in _BINARY:
            _check(node.left, text, names)
            _check(node.right, text, names)
        case ast.UnaryOp(op=ast.USub()):
            _check(node.operand, text, names)
        case ast.Call(func=ast.Name(id=name), keywords=[]) if name in _CALLS:
            if len(node.args) != 2:
                raise ExpressionError(f"'{text}': {name} takes two values")
            for argument in node.args:
                _check(argument, text, names)
        case _:
            raise ExpressionError(
                f"'{text}': {type(node).__name__} is not allowed; use + - * / // % min max cdiv"
            )


def _evaluate(node: ast.expr, sizes: Mapping[str, float]) -> float:
    match node:
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.Name(id=name):
            if name not in sizes:
                raise ExpressionError(f"size '{name}' is not known; there are {sorted(sizes)}")
            return sizes[name]
        case ast.BinOp():
            return _BINARY[type(node.op)](_evaluate(node.left, sizes), _evaluate(node.right, sizes))
        case ast.UnaryOp():
            return -_evaluate(node.operand, sizes)
        case ast.Call(func=ast.Name(id=name)):
            return _CALLS[name](*(_evaluate(argument, sizes) for argument in node.args))
    raise AssertionError(f"unchecked expression node {node!r}")
