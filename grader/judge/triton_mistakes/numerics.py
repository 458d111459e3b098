"""Tiles that are combined or reduced wrongly: axes, lanes beyond the data, overflow, and precision."""

from __future__ import annotations

import ast

from grader.challenge.model import Kind
from grader.judge.evidence import Pattern
from grader.judge.triton_mistakes.expressions import called_operation
from grader.judge.triton_mistakes.program import Program
from grader.judge.triton_source import argument, operation_of, walk
from grader.schemas.report import Mismatch

_NOT_NUMBERS = ("nan", "inf")


def reduced_axis(program: Program, pattern: Pattern | None, mismatch: Mismatch) -> str:
    if pattern is None or pattern.kind != "other_axis":
        return ""
    for kernel in program.source.kernels.values():
        for call in walk(*kernel.node.body):
            if isinstance(call, ast.Call) and called_operation(call) in (
                "sum",
                "max",
                "min",
                "argmax",
                "argmin",
                "cumsum",
            ):
                axis = argument(call, 1, "axis")
                if isinstance(axis, ast.Constant) and isinstance(axis.value, int):
                    return f"Line {call.lineno} reduces along axis={axis.value}: should it be the other axis?"
    return ""


def axes_of_tiles(program: Program, pattern: Pattern | None, mismatch: Mismatch) -> str:
    found = program.findings("axes", "broadcast")
    return f"{found[0].text}." if found else ""


def neutral_elements(program: Program, pattern: Pattern | None, mismatch: Mismatch) -> str:
    if pattern is not None and pattern.kind not in ("factor", "offset", "tail", "rounding", "repeated"):
        return ""
    found = program.findings("neutral")
    return f"{found[0].text}." if found else ""


def unshifted_exponential(program: Program, pattern: Pattern | None, mismatch: Mismatch) -> str:
    """An overflow in a kernel that takes exponentials of its inputs but no maximum."""
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
