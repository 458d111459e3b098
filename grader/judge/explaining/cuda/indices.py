"""Mistakes in CUDA sources about order of arguments, indices, strides and guards."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from grader.challenge.model import Kind
from grader.judge.explaining.cuda.source import (
    Arguments,
    Function,
    Launch,
    names_in,
    plain_value,
    split,
)

_AXES = "xyz"
_PAST_THE_END = re.compile(r"\b(?:behind|past) the end\b")
_TURNED = str.maketrans("<>", "><")
_CAST_OF_INDEX = re.compile(
    r"(?:static_cast\s*<[^<>]*>|\(\s*(?:unsigned|int|long|size_t|u?int\d+_t|long long|unsigned int)\s*\))\s*\(?\s*"
    r"((?:blockIdx|threadIdx)\s*\.\s*[xyz])"
)
_IN_BLOCKS = re.compile(
    r"\bblockIdx\s*\.\s*([xyz])\s*\)?\s*\*\s*gridDim\s*\.\s*\1\b|\bgridDim\s*\.\s*([xyz])\s*\*\s*blockIdx\s*\.\s*\2\b"
)
_OTHER_AXIS = re.compile(
    r"\bblockIdx\s*\.\s*([xyz])\s*\)?\s*\*\s*blockDim\s*\.\s*([xyz])\s*\+\s*threadIdx\s*\.\s*(?!\2)([xyz])\b"
)
_EXCHANGED = re.compile(
    r"\bthreadIdx\s*\.\s*([xyz])\s*\)?\s*\*\s*blockDim\s*\.\s*\1\s*\+\s*blockIdx\s*\.\s*\1\b"
)
_ONE_APART = re.compile(
    r"(?:[=(,\[]|\breturn)\s*(?:blockIdx\s*\.\s*([xyz])\s*\+\s*threadIdx\s*\.\s*\1"
    r"|threadIdx\s*\.\s*([xyz])\s*\+\s*blockIdx\s*\.\s*\2)\s*[;,)\]]"
)


@dataclass
class IndexRules:
    arguments: Arguments

    def order_of_solve(self) -> str:
        solve = self.arguments.source.solve
        names = [argument.name for argument in self.arguments.manifest.args]
        if solve is None or len(solve.parameters) != len(names):
            return ""
        own = [parameter.name for parameter in solve.parameters]
        moved = [name for place, name in enumerate(own) if name in names and names[place] != name]
        constant = [
            given.name
            for given, parameter in zip(self.arguments.manifest.args, solve.parameters, strict=True)
            if given.kind is Kind.OUTPUT and parameter.constant
        ]
        if len(moved) < 2 and not constant:
            return ""
        return (
            f"solve takes ({', '.join(own)}), and the judge passes ({', '.join(names)}): use the challenge's order of "
            "arguments."
        )

    def order_of_launch(self) -> str:
        for launch in self.arguments.source.launches:
            if len(self.arguments.source.launches_of(launch.kernel)) > 1:
                continue
            names = {parameter.name for parameter in launch.kernel.parameters}
            crossed = {
                name: value for name, value in launch.given.items() if value in names and value != name
            }
            if len(crossed) < 2 or set(crossed) != set(crossed.values()):
                continue
            kinds = {parameter.pointer for parameter in launch.kernel.parameters if parameter.name in crossed}
            if len(kinds) > 1:
                continue  # matrices exchanged with their sizes are meant
            told = " and ".join(f"{value} for {name}" for name, value in crossed.items())
            taken = ", ".join(parameter.name for parameter in launch.kernel.parameters)
            return f"The launch in line {launch.line} passes {told}: {launch.kernel.name} takes ({taken})."
        return ""

    def never_passed(self, result: str) -> str:
        solve = self.arguments.source.solve
        names = [argument.name for argument in self.arguments.manifest.args]
        if solve is None or len(solve.parameters) != len(names) or result not in names:
            return ""
        name = solve.parameters[names.index(result)].name
        if not re.search(rf"\b{name}\b", solve.body):
            return f"solve never uses {name}: no kernel gets it, and nothing is copied into it."
        if not self.arguments.source.launches and not re.search(r"\bcuda\w+|<<<", solve.body):
            return "solve launches no kernel."
        return ""

    def never_used(self, name: str) -> str:
        solve = self.arguments.source.solve
        names = [argument.name for argument in self.arguments.manifest.args]
        if solve is None or len(solve.parameters) != len(names) or name not in names:
            return ""
        own = solve.parameters[names.index(name)].name
        if not re.search(rf"\b{own}\b", solve.body):
            return f"solve never uses {own}: no kernel gets it."
        for launch in self.arguments.source.launches:
            for parameter, value in launch.given.items():
                if plain_value(value) == own and not re.search(rf"\b{parameter}\b", launch.kernel.body):
                    return f"The kernel {launch.kernel.name} never uses its parameter {parameter}."
        return ""

    def read_in(self, name: str) -> str:
        found = [
            access
            for kernel in self.arguments.source.kernels
            for access in kernel.accesses
            if (given := self.arguments.of(kernel).get(access.array)) is not None and given.name == name
        ]
        if not found or len({(access.line, access.index) for access in found}) > 1:
            return ""
        return f"Line {found[0].line} reads {found[0].array}[{found[0].index}]."

    def block_index(self) -> str:
        for function in self.arguments.source.functions.values():
            body = _CAST_OF_INDEX.sub(r"\1", function.body)
            if match := _IN_BLOCKS.search(body):
                axis = match[1] or match[2]
                said = (
                    f"multiplies blockIdx.{axis} by gridDim.{axis}, the number of blocks: a block begins at "
                    f"blockIdx.{axis} * blockDim.{axis}, its number times its threads."
                )
            elif match := _OTHER_AXIS.search(body):
                said = (
                    f"multiplies blockIdx.{match[1]} by blockDim.{match[2]} and adds threadIdx.{match[3]}: a block has "
                    f"blockDim.{match[3]} threads along {match[3]}."
                )
            elif match := _EXCHANGED.search(body):
                axis = match[1]
                said = (
                    f"multiplies threadIdx.{axis} by blockDim.{axis}: a thread's index is blockIdx.{axis} * "
                    f"blockDim.{axis} + threadIdx.{axis}."
                )
            elif match := _ONE_APART.search(body):
                axis = match[1] or match[2]
                said = (
                    f"adds blockIdx.{axis} and threadIdx.{axis}, so blocks overlap: a block begins at "
                    f"blockIdx.{axis} * blockDim.{axis}."
                )
            else:
                continue
            line = function.line_at(0) + body.count("\n", 0, match.start())
            return f"Line {line} {said}"
        return ""

    def unused_blocks(self) -> str:
        for launch in self.arguments.source.launches:
            kernel = launch.kernel
            if self._calls_own_function(kernel) or not re.search(r"\bthreadIdx\b", kernel.body):
                continue
            if kernel.numbered_by_macro:
                continue
            for axis, blocks in zip(_AXES, self.grid_of(launch), strict=False):
                if blocks == "1" or re.search(rf"\bblockIdx\s*\.\s*{axis}\b", kernel.body):
                    continue
                if re.search(
                    r"\b(?:cg|cooperative_groups|asm|thread_rank|block_rank)\b", self.arguments.source.text
                ):
                    continue
                return (
                    f"The grid in line {launch.line} has {blocks} blocks along {axis}, but {kernel.name} never uses "
                    f"blockIdx.{axis}: all of them do the same work on the same elements."
                )
        return ""

    def axes_of_blocks(self) -> str:
        for launch in self.arguments.source.launches:
            kernel, grid = launch.kernel, self.grid_of(launch)
            counted = [names_in(launch.caller.resolved(blocks)) for blocks in grid]
            for match in re.finditer(r"\b([A-Za-z_]\w*)\s*(?:<|>=)\s*([A-Za-z_]\w*)\b", kernel.body):
                axes = set(re.findall(r"blockIdx\s*\.\s*([xyz])", kernel.resolved(match[1])))
                value = launch.given.get(match[2], "")
                if len(axes) != 1 or len(counted) < 2 or "threadIdx" not in kernel.resolved(match[1]):
                    continue
                axis = _AXES.index(axes.pop())
                if axis >= len(grid) or not value or value in counted[axis]:
                    continue
                other = next((place for place, names in enumerate(counted) if value in names), None)
                if other is not None:
                    return (
                        f"{match[1]} is computed from blockIdx.{_AXES[axis]} and compared with {match[2]} in line "
                        f"{kernel.line_at(match.start())}, but the grid in line {launch.line} has {value} along "
                        f"{_AXES[other]}, and {grid[axis]} blocks along {_AXES[axis]}."
                    )
        return ""

    def step_of_block(self) -> str:
        for kernel in self.arguments.source.kernels:
            for begin, _, header in kernel.loops():
                parts = header.split(";")
                step = re.fullmatch(r"\s*(\w+)\s*\+=\s*(.*?)\s*", parts[-1]) if len(parts) == 3 else None
                if step is None or not re.fullmatch(r"blockDim\s*\.\s*[xyz]", kernel.resolved(step[2])):
                    continue
                first = kernel.resolved(plain_value(parts[0].partition("=")[2]))
                bound = re.search(r"<=?\s*(\w+)\s*$", parts[1])
                whole = re.search(r"blockIdx\s*\.\s*([xyz])\s*\)?\s*\*\s*blockDim\s*\.\s*\1", first)
                if whole and bound and bound[1] in {parameter.name for parameter in kernel.parameters}:
                    axis = whole[1]
                    return (
                        f"The loop in line {kernel.line_at(begin)} advances by {plain_value(step[2])}, the threads of "
                        f"one block, so blocks process each other's elements: starting at blockIdx.{axis} * "
                        f"blockDim.{axis} + threadIdx.{axis}, the step is gridDim.{axis} * blockDim.{axis}."
                    )
        return ""

    def grid_of(self, launch: Launch) -> list[str]:
        grid = plain_value(launch.grid)
        if re.fullmatch(r"\w+", grid):
            declared = re.search(rf"\bdim3\s+{grid}\s*[({{]", launch.caller.body)
            if declared is None:
                return (
                    [launch.caller.values.get(grid, grid)]
                    if grid.isdigit() or grid in launch.caller.values
                    else []
                )
            grid = "dim3" + launch.caller.body[declared.end() - 1 :]
        if (found := re.match(r"dim3\s*[({]", grid)) is None:
            return [grid]
        depth = 0
        for place in range(found.end() - 1, len(grid)):
            depth += (grid[place] in "({") - (grid[place] in ")}")
            if depth == 0:
                return [plain_value(part) for part in split(grid[found.end() : place])]
        return []

    def _calls_own_function(self, kernel: Function) -> bool:
        return any(re.search(rf"\b{name}\s*[(<]", kernel.body) for name in self.arguments.source.functions)

    def wrong_strides(self, line: int = 0) -> Iterator[str]:
        """``line``: only there."""
        for kernel in self.arguments.source.kernels:
            given = self.arguments.of(kernel)
            sizes = {name: argument.name for name, argument in given.items() if argument.kind is Kind.SIZE}
            for access in kernel.accesses:
                matrix = given.get(access.array)
                if matrix is None or len(matrix.shape) != 2 or (line and access.line != line):
                    continue
                right, index = _without_floor(matrix.shape[1]), kernel.resolved(access.index)
                plain = re.fullmatch(r"\w+", right) is not None
                if (plain and right not in sizes.values()) or re.search(r"[/%\[]", index):
                    continue
                factors = {
                    match[1] or match[2]
                    for match in re.finditer(
                        r"\b([A-Za-z_]\w*)\b\s*\*|\*\s*([A-Za-z_]\w*)\b(?!\s*[.(])", index
                    )
                }
                used = {name for name in factors if name in sizes}
                if len(used) != 1 or sizes[wrong := used.pop()] in names_in(right):
                    continue
                told = wrong if wrong == sizes[wrong] else f"{wrong}, which is {sizes[wrong]}"
                shape, right = ", ".join(map(_without_floor, matrix.shape)), right if plain else f"({right})"
                yield (
                    f"Line {access.line} multiplies a row of {matrix.name} by {told}: {matrix.name} has the shape "
                    f"[{shape}], so its element [i, j] is at i * {right} + j."
                )

    def _unguarded(self, kernel: Function, line: int) -> str:
        indices = {access.index for access in kernel.accesses if access.line == line}
        numbered = [
            index
            for index in indices
            if "threadIdx" in kernel.resolved(index) and "blockIdx" in kernel.resolved(index)
        ]
        if not numbered or kernel.numbered_by_macro or self._calls_own_function(kernel):
            return ""
        if re.search(r"[<>]|[!=]=", _conditions(kernel)) or re.search(r"\bmin\s*\(|%", kernel.body):
            return ""
        return (
            f"Nothing in {kernel.name} compares {min(numbered, key=len)} with a size, and the last block has threads "
            f"past the end. Pass the size, and put line {line} under if (... < size)."
        )

    def guard(self, line: int, message: str) -> str:
        kernel, said = self.arguments.source.kernel_at(line), message.split("\n")[0]
        if kernel is None or not _PAST_THE_END.search(said) or "of the shared array" in said:
            return ""
        here = [
            access
            for access in kernel.accesses
            if access.line == line and re.fullmatch(r"[A-Za-z_]\w*", access.index)
        ]
        if not here and (said := self._unguarded(kernel, line)):
            return said
        if not here or len({access.index for access in here}) != 1:
            return ""
        name = here[0].index
        if "threadIdx" not in kernel.resolved(name):
            return ""
        compared = [
            (kernel.line_at(match.start()), match[1], match[2])
            for match in re.finditer(rf"\b{name}\s*(<=?|>=?)(?![<>])[\s(]*([A-Za-z_][\w.]*)", kernel.body)
        ]
        compared += [
            (kernel.line_at(match.start()), match[2].translate(_TURNED), match[1])
            for match in re.finditer(
                rf"(?<![<\w.])([A-Za-z_][\w.]*)\s*(<=?|>=?)(?![<>])\s*{name}\b", kernel.body
            )
        ]
        compared.sort(key=lambda found: found[0])
        conditions = [" ".join(parts) for _, _, parts in kernel.arguments_of("if", "while", "for")]
        conditions += [statement.rpartition("?")[0] for statement in re.split(r"[;{}]", kernel.body)]
        if not compared and any(name in names_in(_without_indices(condition)) for condition in conditions):
            return ""  # compared in an unknown way
        if not compared:
            return (
                f"Nothing compares {name} with a size, and the last block has threads past the end. Put line {line} "
                f"under if ({name} < ...)."
            )
        first, operator, bound = compared[0]
        given = self.arguments.of(kernel)
        size = given[bound].name if bound in given and given[bound].kind is Kind.SIZE else ""
        if first > line and size:
            return (
                f"Line {line} uses {name} before line {first} checks that it is below {bound}: the last block has "
                f"threads past the end, and they execute line {line} too. Move it under that condition."
            )
        arrays = [given[access.array] for access in here if access.array in given]
        fits = any(array.shape == [size] for array in arrays)
        if first <= line and fits and (operator == "<=" or (operator == ">" and "return" in kernel.body)):
            return f"Line {first} lets {name} = {bound} through: indices count from 0, so the last one is {bound} - 1."
        return ""


def _without_floor(extent: str) -> str:
    """``n - k + 1`` of ``max(n - k + 1, 0)``."""
    found = re.fullmatch(r"max\((.*), 0\)", extent)
    return found[1] if found else extent


def _conditions(kernel: Function) -> str:
    conditions = [" ".join(parts) for _, _, parts in kernel.arguments_of("if", "while", "for", "switch")]
    conditions += [statement.rpartition("?")[0] for statement in re.split(r"[;{}]", kernel.body)]
    return " ".join(conditions)


def _without_indices(expression: str) -> str:
    for _ in range(8):
        expression, count = re.subn(r"\[[^\[\]]*\]", " ", expression)
        if not count:
            break
    return expression
