"""Reductions and precision: axes, lanes beyond the data, overflow."""

from __future__ import annotations

import ast

from grader.challenge.model import Kind
from grader.judge.explaining.short_constants import approximation_of_gelu, short_constant
from grader.judge.explaining.triton.expressions import called_operation
from grader.judge.explaining.triton.program import Program
from grader.judge.explaining.triton.source import argument, operation_of, walk
from grader.judge.explaining.wrong import Pattern
from grader.schemas.report import Mismatch

_NOT_NUMBERS = ("nan", "inf")
_REDUCTIONS = ("sum", "max", "min", "argmax", "argmin", "cumsum")


def reduced_axis(program: Program, pattern: Pattern | None, mismatch: Mismatch) -> str:
    if pattern is None or pattern.kind != "other_axis":
        return ""
    for kernel in program.source.kernels.values():
        lines: dict[int, list[int]] = {}
        for call in walk(*kernel.node.body):
            if isinstance(call, ast.Call) and called_operation(call) in _REDUCTIONS:
                axis = argument(call, 1, "axis")
                if isinstance(axis, ast.Constant) and isinstance(axis.value, int):
                    lines.setdefault(axis.value, []).append(call.lineno)
        if len(lines) == 1:
            (axis_of_all,) = lines
            where = f"Line {lines[axis_of_all][0]}"
            return f"{where} reduces along axis={axis_of_all}: should it be the other axis?"
        if len(lines) == 2:
            (one, first), (other, second) = lines.items()
            return (
                f"Line {first[0]} reduces along axis={one}, but line {second[0]} along axis={other}: should they be "
                "the same?"
            )
    return ""


def axes_of_tiles(program: Program, pattern: Pattern | None, mismatch: Mismatch) -> str:
    found = program.findings("axes", "broadcast")
    return f"{found[0].text}." if found else ""


def neutral_elements(program: Program, pattern: Pattern | None, mismatch: Mismatch) -> str:
    if pattern is not None and pattern.kind not in (
        "factor",
        "row_factor",
        "offset",
        "tail",
        "rounding",
        "repeated",
        "padded",
    ):
        return ""
    found = program.findings("neutral")
    return f"{found[0].text}." if found else ""


def unshifted_exponential(program: Program, pattern: Pattern | None, mismatch: Mismatch) -> str:
    if mismatch.kind not in _NOT_NUMBERS or mismatch.expected in ("nan", "inf", "-inf"):
        return ""
    for kernel in program.source.kernels.values():
        calls = [node for node in walk(*kernel.node.body) if isinstance(node, ast.Call)]
        names = {called_operation(call) for call in calls}
        exponential = next((call for call in calls if called_operation(call) in ("exp", "exp2")), None)
        if exponential is not None and "sum" in names and not names & {"max", "maximum"}:
            return (
                f"The exponential in line {exponential.lineno} overflows for large inputs, and inf / inf is NaN: "
                "subtract the row's maximum first, which changes no quotient."
            )
    return ""


def sums_in_half(program: Program, pattern: Pattern | None, mismatch: Mismatch) -> str:
    if pattern is None or pattern.kind not in ("rounding", "rounded_inputs"):
        return ""
    found = program.findings("half_sum")
    if not found:
        return ""
    return (
        f"Line {found[0].line} adds up in {found[0].text}: sum in float32, and round once, when it is stored."
    )


def reduced_precision(program: Program, pattern: Pattern | None, mismatch: Mismatch) -> str:
    if pattern is None or pattern.kind not in ("rounding", "rounded_inputs"):
        return ""
    if any(given.dtype.half for given in program.manifest.buffers if given.kind is Kind.INPUT):
        return ""
    for kernel in program.source.kernels.values():
        for call in walk(*kernel.node.body):
            if (
                isinstance(call, ast.Call)
                and (kind := _half_of(call))
                and not any(given.dtype.half for given in program.manifest.buffers)
            ):
                return (
                    f"Line {call.lineno} rounds to {kind}, which has {11 if kind == 'float16' else 8} bits: keep "
                    "float32 throughout."
                )
            if operation_of(call) == "dot" and isinstance(call, ast.Call):
                precise = {keyword.arg: keyword.value for keyword in call.keywords}
                chosen = precise.get("input_precision", precise.get("allow_tf32"))
                value = chosen.value if isinstance(chosen, ast.Constant) else None
                if chosen is None or value in ("tf32", True):
                    return (
                        f"The tl.dot in line {call.lineno} rounds float32 to TF32, which has 10 bits of mantissa: "
                        'pass input_precision="ieee".'
                    )
    return ""


def _half_of(call: ast.Call) -> str:
    """The 16-bit type in ``value.to(type)``, or empty."""
    if not (isinstance(call.func, ast.Attribute) and call.func.attr == "to" and call.args):
        return ""
    kind = call.args[0]
    name = kind.attr if isinstance(kind, ast.Attribute) else ""
    return name if name in ("float16", "bfloat16") else ""


def few_digits(program: Program, pattern: Pattern | None) -> str:
    if pattern is None or pattern.kind != "rounding":
        return ""
    lines = [line.partition("#")[0] for line in program.source.lines]
    allowed = program.manifest.tolerance.loosest(program.manifest.results)
    return short_constant(lines, allowed / 4) or approximation_of_gelu(lines)


def divided_by_block(program: Program, pattern: Pattern | None) -> str:
    """Some lanes are padding."""
    if pattern is not None and pattern.kind not in (
        "rounding",
        "factor",
        "row_factor",
        "offset",
        "rounded_inputs",
        "tail",
    ):
        return ""
    for kernel in program.source.kernels.values():
        blocks = kernel.constants - {
            name for name, argument in program.given(kernel).items() if argument.kind is Kind.SIZE
        }
        for node in walk(*kernel.node.body):
            match node:
                case ast.BinOp(left=left, op=ast.Div(), right=ast.Name(id=name)) if name in blocks:
                    if any(
                        isinstance(part, ast.Call) and called_operation(part) == "sum" for part in walk(left)
                    ):
                        return (
                            f"Line {node.lineno} divides a sum by {name}, the size of the block: a mean divides by the "
                            "number of elements, without the padding."
                        )
    return ""


def cuts_fractions(program: Program, pattern: Pattern | None) -> str:
    if pattern is None or pattern.kind != "whole":
        return ""
    for kernel in program.source.kernels.values():
        for call in walk(*kernel.node.body):
            if not isinstance(call, ast.Call) or called_operation(call) not in ("to", "cast"):
                continue
            kinds = [*call.args, *(word.value for word in call.keywords)]
            if any(
                isinstance(part, ast.Attribute) and part.attr.lstrip("u").startswith("int") for part in kinds
            ):
                return f"Line {call.lineno} turns values into integers, which cuts their fractions off."
    return ""


def drops_nan(program: Program, pattern: Pattern | None) -> str:
    if pattern is None or pattern.kind != "nan_lost":
        return ""
    for kernel in program.source.kernels.values():
        for call in walk(*kernel.node.body):
            if not isinstance(call, ast.Call):
                continue
            operation = called_operation(call)
            passes = any(word.arg == "propagate_nan" for word in call.keywords)
            if operation in ("maximum", "minimum", "clamp") and not passes:
                return (
                    f"The tl.{operation} in line {call.lineno} returns the other operand if one is NaN: pass "
                    "propagate_nan=tl.PropagateNan.ALL, or use tl.where with a comparison that lets NaN through."
                )
            if operation == "where" and call.args and isinstance(call.args[0], ast.Compare):
                return (
                    f"The comparison of the tl.where in line {call.lineno} is false for NaN, so NaN takes the last "
                    "argument: turn the comparison round."
                )
    return ""


def divides_by_one_less(program: Program, pattern: Pattern | None) -> str:
    if pattern is not None and pattern.kind not in ("rounding", "factor", "row_factor", "rounded_inputs"):
        return ""
    for kernel in program.source.kernels.values():
        sizes = {name for name, argument in program.given(kernel).items() if argument.kind is Kind.SIZE}
        for node in walk(*kernel.node.body):
            match node:
                case ast.BinOp(
                    op=ast.Div(),
                    right=ast.BinOp(left=ast.Name(id=name), op=ast.Sub(), right=ast.Constant(value=1)),
                ) if name in sizes:
                    return (
                        f"Line {node.lineno} divides by {name} - 1: a mean of {name} terms divides by {name}."
                    )
    return ""
