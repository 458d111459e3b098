"""Arguments that are unused, missing, reordered, or not written."""

from __future__ import annotations

import ast

from grader.challenge.model import Kind
from grader.judge.explaining.triton.expressions import is_none
from grader.judge.explaining.triton.program import Program
from grader.judge.explaining.triton.source import Kernel, walk
from grader.judge.explaining.wrong import Pattern
from grader.judge.messages import Failure
from grader.schemas.report import Mismatch


def result_not_written(program: Program, pattern: Pattern | None, mismatch: Mismatch) -> str:
    solve, name = program.source.solve, mismatch.argument
    if solve is None or mismatch.kind != "unwritten" or mismatch.wrong < mismatch.total:
        return ""
    name = program.parameter_of(name)
    for node in walk(*solve.body):
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == name for target in node.targets
        ):
            return (
                f"Line {node.lineno} gives the name {name} to another tensor; the judge reads the one that solve "
                f"was called with. Write into that one: have a kernel store to {name}, or {name}.copy_(...)."
            )
    for node in walk(*solve.body):
        if isinstance(node, ast.Return) and node.value is not None and not is_none(node.value):
            return (
                f"solve returns its result in line {node.lineno}, but the judge does not read return values. "
                f"Write it into {name}: have a kernel store to {name}, or {name}.copy_(...)."
            )
    if not program.source.launches and program.source.kernels:
        return (
            f"solve launches no kernel: call it with a grid, {next(iter(program.source.kernels))}[grid](...)."
        )
    return ""


def unused_argument(program: Program, pattern: Pattern | None, mismatch: Mismatch) -> str:
    if pattern is not None and pattern.kind in (
        "turned",
        "turned_tiles",
        "shifted",
        "read_turned",
        "exchanged",
    ):
        return ""
    for given in program.manifest.args:
        if given.kind not in (Kind.INPUT, Kind.INOUT, Kind.SCALAR):
            continue
        if pattern is not None and pattern.kind == "ignored" and given.name not in pattern.names:
            continue
        if said := _unused(program, program.parameter_of(given.name)):
            return said
    return ""


def _unused(program: Program, name: str) -> str:
    solve = program.source.solve
    if solve is None or name not in [parameter.arg for parameter in solve.args.args]:
        return ""
    if not _reads(solve.body, name):
        return f"solve never uses its argument {name}."
    taken = [
        (launch.kernel, parameter)
        for launch in program.source.launches
        for parameter, value in launch.given.items()
        if isinstance(value, ast.Name) and value.id == name
    ]
    if not taken or any(parameter in kernel.used for kernel, parameter in taken):
        return ""
    kernel, parameter = taken[0]
    named = f"{parameter}, which is {name}" if parameter != name else name
    return f"The kernel {kernel.name} never uses its parameter {named}."


def missing_argument(program: Program, failure: Failure, line: int) -> str:
    for launch in program.source.launches:
        if launch.line <= line <= launch.line + 8 or not line:
            arguments = launch.kernel.node.args
            optional = (
                arguments.args[len(arguments.args) - len(arguments.defaults) :] if arguments.defaults else []
            )
            without = {argument.arg for argument in optional}
            missing = [
                parameter
                for parameter in launch.kernel.parameters
                if parameter not in launch.given and parameter not in without
            ]
            if missing and "argument" in failure.message and not _is_tuned(launch.kernel):
                names = " and ".join(missing)
                return f"The launch in line {launch.line} does not pass {names} to {launch.kernel.name}."
    return ""


def _is_tuned(kernel: Kernel) -> bool:
    return any(
        "autotune" in ast.unparse(node) or "heuristics" in ast.unparse(node)
        for node in kernel.node.decorator_list
    )


def parameter_order(program: Program, failure: Failure, line: int) -> str:
    names = [argument.name for argument in program.manifest.args]
    solve = program.source.solve
    own = [parameter.arg for parameter in solve.args.args] if solve is not None else []
    if own == names or sorted(own) != sorted(names):
        return ""
    return (
        f"solve takes ({', '.join(own)}), and the judge passes ({', '.join(names)}): use the challenge's order of "
        "arguments."
    )


def _reads(body: list[ast.stmt], name: str) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        for node in walk(*body)
    )
