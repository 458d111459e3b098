"""Questions about a kernel's expressions."""

from __future__ import annotations

import ast
import itertools

from grader.judge.explaining.triton.source import Kernel, operation_of, walk

_MOST_NODES = 2_000


def called_operation(call: ast.Call) -> str:
    return operation_of(call) or (call.func.attr if isinstance(call.func, ast.Attribute) else "")


def is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def names_in(tree: ast.AST) -> set[str]:
    return {node.id for node in walk(tree) if isinstance(node, ast.Name)}


class _Substitute(ast.NodeTransformer):
    def __init__(self, values: dict[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.values.get(node.id, node)


def resolved(expression: ast.expr, kernel: Kernel, everything: bool = False) -> ast.expr:
    """Replaces names of masks and pointers (``everything``: of indices too) by their values, two deep."""
    values = kernel.values if everything else kernel.conditions
    for _ in range(2):
        found = _Substitute(values).visit(ast.parse(ast.unparse(expression), mode="eval").body)
        # Values are shared nodes, so a small tree can become huge.
        if next(itertools.islice(walk(found), _MOST_NODES, None), None) is not None:
            break
        expression = found
    return expression


def expanded_names(tree: ast.AST) -> set[str]:
    found = set()
    for node in walk(tree):
        if isinstance(node, ast.Subscript) and only_expands(node.slice):
            found |= set(names_in(node.value))
    return found


def only_expands(place: ast.expr) -> bool:
    parts = place.elts if isinstance(place, ast.Tuple) else [place]
    return any(is_none(part) for part in parts) and all(
        is_none(part) or isinstance(part, ast.Slice) for part in parts
    )
