"""Mistakes in CUDA sources about grids, loops, blocks and shared memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from grader.challenge.cases import Case
from grader.challenge.model import Kind
from grader.judge.explaining.cuda.indices import IndexRules
from grader.judge.explaining.cuda.source import Arguments, Function, Launch, names_in, plain_value, split
from grader.judge.explaining.wrong import Pattern

_ROUNDED_DOWN = re.compile(r"\(*\s*([A-Za-z_]\w*)\s*\)*\s*(/|>>)\s*\(*\s*(\w+)\s*\)*")
_AT_BLOCK = re.compile(
    r"\bblockIdx\s*\.\s*([xyz])\s*\)?\s*\*\s*(\w+)\s*\+\s*threadIdx\s*\.\s*\1\b(?!\s*\*)"
    r"|\b(\w+)\s*\*\s*blockIdx\s*\.\s*([xyz])\s*\+\s*threadIdx\s*\.\s*\4\b(?!\s*\*)"
)
_CASTS = re.compile(
    r"static_cast\s*<[^<>]*>"
    r"|\(\s*(?:unsigned|int|long|size_t|u?int\d+_t|long long|unsigned int|unsigned long long)\s*\)"
)
_TYPES = r"(?:float|double|int|unsigned|long long|int64_t|uint32_t|int32_t|size_t|__half|half|float2|float4)"
_DECLARED = re.compile(rf"(?<![\w,(<])(?:{_TYPES})\s+([A-Za-z_][^;(){{}}=\[\]]*(?:=[^;]*)?);")


@dataclass
class ShapeRules:
    arguments: Arguments
    indices: IndexRules

    def rounded_grid(self) -> str:
        for launch in self.arguments.source.launches:
            kernel = launch.kernel
            if len(self.arguments.source.launches_of(kernel)) > 1 or re.search(r"\bgridDim\b", kernel.body):
                continue
            for axis, blocks in zip("xyz", self.indices.grid_of(launch), strict=False):
                found = _ROUNDED_DOWN.fullmatch(plain_value(_CASTS.sub("", launch.caller.resolved(blocks))))
                if found is None or found[3] == "1" or not launch.caller.is_integer(found[1]):
                    continue
                given = plain_value(blocks)
                made = next((one.line for one in launch.caller.assignments if one.name == given), launch.line)
                divided = f"{found[1]} {found[2]} {found[3]}"
                up = (
                    f"({found[1]} + {found[3]} - 1) / {found[3]}"
                    if found[2] == "/"
                    else "a quotient that rounds up"
                )
                return (
                    f"The grid in line {made} has {divided} blocks along {axis}, which rounds down: the last, partial "
                    f"block never runs. {up} rounds up."
                )
        return ""

    def rounded_size(self, pattern: Pattern, case: Case) -> str:
        """n / 4 vectors of four, say."""
        first = int(pattern.number)
        for function in self.arguments.source.functions.values():
            given = self.arguments.of(function)
            for assignment in function.assignments:
                found = _ROUNDED_DOWN.fullmatch(plain_value(_CASTS.sub("", assignment.value)))
                size = given.get(found[1]) if found is not None else None
                if found is None or size is None or size.kind is not Kind.SIZE or not found[3].isdecimal():
                    continue
                group, total = int(found[3]), case.sizes.get(size.name, 0)
                if found[2] == "/" and group > 1 and 0 < total - first < group and first % group == 0:
                    return (
                        f"Line {assignment.line} divides {found[1]} by {group} and rounds down: the last "
                        f"{found[1]} % {group} elements belong to no group. Compute them one by one."
                    )
        return ""

    def one_block(self) -> str:
        for launch in self.arguments.source.launches:
            kernel, grid = launch.kernel, self.indices.grid_of(launch)
            if len(self.arguments.source.launches_of(kernel)) > 1 or not re.search(
                r"\bblockIdx\b", kernel.body
            ):
                continue
            if grid and all(blocks == "1" for blocks in grid) and not re.search(r"\bgridDim\b", kernel.body):
                return (
                    f"The grid in line {launch.line} has only one block, and {kernel.name} uses blockIdx for more: one "
                    "block is needed for each part of the result."
                )
        return ""

    def rounded_loop(self, case: Case) -> str:
        for kernel in self.arguments.source.functions.values():
            given = self.arguments.of(kernel)
            for begin, _, header in kernel.loops():
                parts = header.split(";")
                if len(parts) != 3:
                    continue
                for size, tile in _whole_tiles(kernel, parts[1], parts[2]):
                    argument, number = given.get(size), self._number(kernel, tile)
                    if argument is None or argument.kind is not Kind.SIZE or not number or number < 2:
                        continue
                    extent = case.sizes.get(argument.name, 0)
                    rest = extent % number
                    if not rest or self._handles_rest(kernel, size, tile, begin):
                        continue
                    return (
                        f"The loop in line {kernel.line_at(begin)} covers whole tiles of {tile} alone, {size} / {tile} "
                        f"rounded down: of {argument.name} = {extent:,} the last {rest:,} are left out. Round up, and "
                        "check the bounds of the last tile."
                    )
        return ""

    def _handles_rest(self, kernel: Function, size: str, tile: str, begin: int) -> bool:
        """It asks for the remainder, or loops again."""
        whole = self.arguments.source.text
        if re.search(rf"\b{size}\s*[%&]|%\s*\(*\s*{re.escape(tile)}\b", whole):
            return True
        if re.search(rf"\*\s*{re.escape(tile)}\s*;", kernel.body):
            return True
        rounded = re.findall(rf"\b(\w+)\s*=\s*{size}\s*/\s*{re.escape(tile)}\s*;", kernel.body)
        if any(re.search(rf"\b{name}\s*\*\s*{re.escape(tile)}\b", kernel.body) for name in rounded):
            return True
        # Not tiles but pairs: of i and i + n / 2, or of i and n - 1 - i.
        half = "|".join([*map(re.escape, rounded), rf"\(*\s*{size}\s*/\s*{re.escape(tile)}"])
        pairs = rf"[+^]\s*\(*\s*(?:{half})\b|\b(?:{half})\s*\+|\b{size}\s*-\s*1\s*-"
        if tile == "2" and re.search(pairs, kernel.body):
            return True
        later = (header for place, _, header in kernel.loops() if place > begin)
        return any(
            re.search(rf"\b{size}\b", header)
            and not re.search(r"=\s*(?:0|threadIdx|\w*[tT]id\w*|t)\b", header)
            for header in later
        )

    def _number(self, kernel: Function, expression: str) -> int | None:
        source = self.arguments.source
        if (found := source.number_of(expression)) is not None:
            return found
        if re.fullmatch(r"blockDim\s*\.\s*x", expression.strip()):
            blocks = {self._threads(launch) for launch in source.launches_of(kernel)}
            return blocks.pop() if len(blocks) == 1 else None
        return None

    def _threads(self, launch: Launch) -> int | None:
        """Along x."""
        text = plain_value(launch.caller.resolved(launch.block))
        found = re.fullmatch(r"dim3\s*[({]\s*([^,(){}]+)[^{}]*[)}]", text)
        if found is None and (
            declared := re.search(
                rf"\bdim3\s+{re.escape(plain_value(launch.block))}\s*[({{]\s*([^,(){{}}]+)",
                launch.caller.body,
            )
        ):
            return self.arguments.source.number_of(launch.caller.resolved(declared[1]))
        return self.arguments.source.number_of(found[1] if found else text)

    def step_between_blocks(self) -> str:
        for kernel in self.arguments.source.kernels:
            launches = self.arguments.source.launches_of(kernel)
            if len(launches) != 1 or any(True for _ in kernel.loops()):
                continue
            body = _CASTS.sub("", kernel.body)
            found = _AT_BLOCK.search(body)
            if found is None or (found[1] or found[4]) != "x":
                continue
            step, threads = self.arguments.source.number_of(found[2] or found[3]), self._threads(launches[0])
            if step is None or threads is None or step == threads:
                continue
            effect = (
                f"so elements {threads} to {step - 1} of each {step} have no thread"
                if step > threads
                else "so neighbouring blocks work on the same elements"
            )
            line = kernel.line_at(0) + body.count("\n", 0, found.start())
            return (
                f"In line {line} blocks begin {step} elements apart, but the launch in line {launches[0].line} has "
                f"{threads} threads in a block, {effect}: use blockDim.x."
            )
        return ""

    def beyond_block(self, pattern: Pattern) -> str:
        for launch in self.arguments.source.launches:
            threads = self._threads(launch)
            if threads and threads > 1 and pattern.number == threads:
                return (
                    f"{threads} is the number of threads in a block (line {launch.line}): is a loop missing in which "
                    "each thread takes more than one element?"
                )
        return ""

    def dynamic_shared(self, message: str) -> str:
        named = re.search(r"the shared array (\w+), which has ([\d,]+) bytes?", message)
        for kernel in self.arguments.source.kernels if named else ():
            assert named is not None
            if not re.search(rf"\bextern\s+__shared__\b[^;]*\b{named[1]}\s*\[\s*\]", kernel.body):
                continue
            for launch in self.arguments.source.launches_of(kernel):
                if not launch.shared or launch.shared == "0":
                    return (
                        f"{named[1]} is dynamic shared memory (extern), and the launch in line {launch.line} gives it "
                        "no bytes: they are the third number, <<<blocks, threads, bytes>>>."
                    )
                unit = "" if "sizeof" in launch.shared else ": it counts bytes, so multiply by sizeof(...)"
                return (
                    f"{named[1]} is dynamic shared memory (extern), and the launch in line {launch.line} gives it "
                    f"{launch.shared} bytes{unit}."
                )
        return ""

    def unset_shared(self, line: int) -> str:
        kernel = self.arguments.source.kernel_at(line)
        for name in _shared_names(kernel) if kernel is not None else ():
            assert kernel is not None
            values = [
                assignment.value
                for assignment in kernel.assignments
                if assignment.name == name and assignment.operator == "="
            ]
            values += [
                access.value for access in kernel.accesses if access.array == name and access.operator == "="
            ]
            if any(name not in names_in(value) for value in values):
                continue
            atomics = rf"\batomic\w+\s*\(\s*&?\s*\(?\s*{name}\b"
            others = re.sub(atomics, " ", kernel.body)
            passed = rf"[(,]\s*{name}\s*[,)]|\)\s*{name}\b"
            is_array = re.search(rf"__shared__\b[^;]*\b{name}\s*\[", kernel.body) is not None
            if re.search(rf"&\s*{name}\b", others) or (is_array and re.search(passed, others)):
                continue  # it may be set through a pointer, or by a function
            adds = [one.line for one in kernel.assignments if one.name == name and one.operator != "="]
            adds += [
                one.line for one in kernel.accesses if one.array == name and one.operator not in ("", "=")
            ]
            adds += [kernel.line_at(match.start()) for match in re.finditer(atomics, kernel.body)]
            if adds:
                return (
                    f"Nothing sets the shared array {name} before line {min(adds)} adds to it, and shared memory "
                    "begins with any values: set it first (to 0 for a sum), then __syncthreads()."
                )
        return ""

    def early_return(self, line: int) -> str:
        """Threads that return early leave parts of a shared array unset."""
        kernel = self.arguments.source.kernel_at(line)
        names = _shared_names(kernel) if kernel is not None else ()
        if kernel is None or not names:
            return ""
        barrier = re.search(r"__syncthreads\s*\(", kernel.body)
        early = re.search(r"\breturn\s*;", kernel.body[: barrier.start()] if barrier else "")
        if barrier is None or early is None:
            return ""
        filled = [
            access
            for access in kernel.accesses
            if access.array in names
            and access.operator == "="
            and access.line <= kernel.line_at(barrier.start())
        ]
        at = kernel.line_at(early.start())
        if not filled or not all(access.line >= at for access in filled):
            return ""
        return (
            f"Threads that return in line {at} never fill their place of the shared array {filled[0].array} (line "
            f"{filled[0].line}), which others read: let them store a neutral value (0 for a sum), and return after the "
            "last barrier."
        )

    def unset_local(self) -> str:
        for function in self.arguments.source.functions.values():
            for match in _DECLARED.finditer(function.body):
                for declared in split(match[1]):
                    if "=" in declared or not re.fullmatch(r"[A-Za-z_]\w*", declared):
                        continue
                    uses = [
                        one
                        for one in function.assignments
                        if one.name == declared and one.place > match.start()
                    ]
                    between = function.body[match.end() : uses[0].place] if uses else ""
                    read = re.search(rf"&\s*{declared}\b", function.body) or declared in names_in(between)
                    if uses and not read and (uses[0].operator != "=" or declared in names_in(uses[0].value)):
                        return (
                            f"Line {function.line_at(match.start())} declares {declared} without a value, and line "
                            f"{uses[0].line} computes with it: begin with a value, such as 0 for a sum."
                        )
        return ""


def _whole_tiles(kernel: Function, condition: str, step: str) -> Iterator[tuple[str, str]]:
    """Size and tile of ``t < size / tile``, and of ``p + tile <= size`` with ``p += tile``."""
    if found := re.fullmatch(r"\s*\w+\s*<\s*(.+?)\s*", condition):
        bound = plain_value(_CASTS.sub("", found[1]))
        direct = _ROUNDED_DOWN.fullmatch(bound)
        if direct is None and re.fullmatch(r"\w+", bound):
            direct = _ROUNDED_DOWN.fullmatch(plain_value(_CASTS.sub("", kernel.values.get(bound, ""))))
        if direct is not None and direct[2] == "/":
            yield direct[1], direct[3]
    found = re.fullmatch(r"\s*(\w+)\s*\+\s*(\w+)\s*(?:<=)\s*(\w+)\s*", condition)
    if found and re.search(rf"\b{found[1]}\s*\+=\s*{found[2]}\b", step):
        yield found[3], found[2]


def _shared_names(kernel: Function) -> list[str]:
    return [
        name
        for match in re.finditer(r"__shared__\s+[\w:<> ]{1,60}?\s+([^;=]*)", kernel.body)
        for each in split(match[1])
        for name in re.findall(r"^\w+", each)
    ]
