"""Names mistakes in CUDA sources: a rule is a pattern of wrong numbers, or an error, and what the source does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.challenge.cases import Case
from grader.challenge.dtypes import DType
from grader.challenge.model import Argument, Kind, Manifest
from grader.judge.cuda_source import (
    Access,
    Assignment,
    CudaSource,
    Function,
    Launch,
    names_in,
    plain_value,
    read,
    split,
)
from grader.judge.evidence import Pattern
from grader.judge.messages import Failure
from grader.schemas.report import Mismatch

if TYPE_CHECKING:
    import torch

_RACES = ("shared_race", "global_race", "warp_race")
_NOT_FINITE = ("nan", "inf", "-inf")
# Patterns beside which a wrong address explains nothing.
_RIGHT_PLACES = ("rounding", "rounded_inputs", "factor", "offset", "zeros")
_HALF = r"(?:__half2?|half2?|(?:__)?nv_bfloat162?)"
_HALF_DECLARED = re.compile(rf"\b{_HALF}\s+([A-Za-z_][^;(){{}}]*)")
_HALF_FRAGMENT = re.compile(
    rf"\bfragment\s*<\s*(?:\w+\s*::\s*)*accumulator\s*,[^<>;]{{0,120}},\s*{_HALF}\s*>"
)
_ADDS = re.compile(r"\+|__h(?:add|fma)2?(?:_rn|_sat)?\b|\bfmaf?\b")
_ZERO = re.compile(r"[+]?0(?:\.0*)?[fFlL]?|FLT_MIN|DBL_MIN|std::numeric_limits<\w+>::min\(\)|\.0f?")
# The condition of a statement that begins where the text ends, for one thread.
_GUARD = re.compile(r"\bif\s*\([^;{}]*==[^;{}]*\)\s*\{?\s*\*?\s*$")
_EXPONENTIALS = ("expf", "exp", "__expf", "exp2f", "exp2", "hexp")
# exp of more is no float32, and of less than its negative is 0.
_EXPONENT = 80.0
_UNIT = 2.0**-24
# The square of a row's mean is so many times its variance where float32 loses 4 of 7 digits in their difference.
_CANCELLING = 1e3
_AXES = "xyz"


@dataclass
class CudaMistakes:
    manifest: Manifest
    source: CudaSource
    _arguments: dict[str, dict[str, Argument]] = field(default_factory=dict)
    # By function, expression and depth: variables that are given many values of each other are asked again and again.
    _known_tags: dict[tuple[str, str, int], set[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, manifest: Manifest, text: str) -> CudaMistakes | None:
        """None where the text is too long to be read."""
        source = read(text)
        return cls(manifest, source) if source is not None else None

    def suspicions(self) -> list[str]:
        """What looks wrong in the source by itself, whatever comes of it."""
        sayings = [
            self._order_of_solve(),
            self._order_of_launch(),
            self._block_index(),
            self._unused_blocks(),
            self._axes_of_blocks(),
            self._step_of_block(),
            next(self._wrong_strides(), ""),
            *(self._update(it.function, it.access) for it in self._updates()),
            next((said for _, _, said in self._starts_of_extremes()), ""),
            self._unshifted_exponential(),
            self._sum_in_half(),
            self._variance(),
            self._zero_quotient(),
        ]
        return [it for it in sayings if it]

    # Wrong results

    def of_result(
        self,
        pattern: Pattern | None,
        mismatch: Mismatch,
        case: Case,
        inputs: Mapping[str, torch.Tensor],
    ) -> str:
        if mismatch.kind in ("late", "not_cleared"):
            return ""
        if said := self._order_of_solve():
            return said
        if mismatch.kind == "input_changed":
            return ""
        if mismatch.kind == "out_of_bounds":
            return self._order_of_launch() or next(self._wrong_strides(), "") or self._block_index()
        kind = pattern.kind if pattern is not None else ""
        said = ""
        if kind not in _RIGHT_PLACES:
            said = self._of_places(pattern, mismatch)
        if not said and mismatch.kind in ("nan", "inf", "value"):
            said = self._of_values(pattern, mismatch, case, inputs)
        return said

    def _of_places(self, pattern: Pattern | None, mismatch: Mismatch) -> str:
        """Of elements that are wrong by where they are read or written."""
        if said := self._order_of_launch():
            return said
        if mismatch.kind == "unwritten":
            said = self._block_index() or self._unused_blocks() or self._axes_of_blocks()
            if said:
                return said
        strides = self._wrong_strides()
        if pattern is not None and pattern.kind == "read_turned":
            strides = (it for it in strides if f" row of {pattern.names[0]} " in it)
        if said := next(strides, ""):
            return said
        if mismatch.kind == "value" and (said := self._block_index() or self._step_of_block()):
            return said
        if mismatch.kind == "value" and (pattern is None or pattern.kind == "tail"):
            return self._unused_blocks() or next(
                (self._update(it.function, it.access) for it in self._updates() if it.everywhere), ""
            )
        return ""

    def _of_values(
        self,
        pattern: Pattern | None,
        mismatch: Mismatch,
        case: Case,
        inputs: Mapping[str, torch.Tensor],
    ) -> str:
        kind = pattern.kind if pattern is not None else ""
        finite = mismatch.expected not in _NOT_FINITE
        if not finite:
            return ""
        if said := self._extreme_of_zero(mismatch, inputs) or self._zero_quotient():
            return said
        if (
            mismatch.kind != "value"
            and self._may_overflow(inputs)
            and (said := self._unshifted_exponential())
        ):
            return said
        if self._cancels(mismatch, inputs) and (said := self._variance()):
            return said
        if kind in ("", "rounding", "rounded_inputs"):
            if (said := self._sum_in_half()) and self._rounds_in_half(mismatch, case):
                return said
            if mismatch.kind == "value":
                return self._long_sum(kind, mismatch, case)
        return ""

    # The order of arguments

    def _order_of_solve(self) -> str:
        solve = self.source.solve
        names = [it.name for it in self.manifest.args]
        if solve is None or len(solve.parameters) != len(names):
            return ""
        own = [it.name for it in solve.parameters]
        moved = [it for place, it in enumerate(own) if it in names and names[place] != it]
        constant = [
            given.name
            for given, it in zip(self.manifest.args, solve.parameters, strict=True)
            if given.kind is Kind.OUTPUT and it.constant
        ]
        if len(moved) < 2 and not constant:
            return ""
        return (
            f"solve takes ({', '.join(own)}), and the judge passes ({', '.join(names)}): the order of the arguments is "
            "the challenge's."
        )

    def _order_of_launch(self) -> str:
        """Arguments that a launch passes crosswise: each has the name of another's parameter."""
        for launch in self.source.launches:
            if len(self.source.launches_of(launch.kernel)) > 1:
                continue
            names = {it.name for it in launch.kernel.parameters}
            crossed = {name: it for name, it in launch.given.items() if it in names and it != name}
            if len(crossed) < 2 or set(crossed) != set(crossed.values()):
                continue
            kinds = {it.pointer for it in launch.kernel.parameters if it.name in crossed}
            if len(kinds) > 1:
                continue  # whoever exchanges matrices and their sizes at once means it
            told = " and ".join(f"{it} for {name}" for name, it in crossed.items())
            taken = ", ".join(it.name for it in launch.kernel.parameters)
            return f"The launch in line {launch.line} passes {told}: {launch.kernel.name} takes ({taken})."
        return ""

    # Indices

    def _block_index(self) -> str:
        """A thread's index that is made of other sizes than its block's."""
        for function in self.source.functions.values():
            body = _CAST_OF_INDEX.sub(r"\1", function.body)
            if it := _IN_BLOCKS.search(body):
                axis = it[1] or it[2]
                said = (
                    f"multiplies blockIdx.{axis} by gridDim.{axis}, the number of blocks: a block begins at "
                    f"blockIdx.{axis} * blockDim.{axis}, its number times its threads."
                )
            elif it := _OTHER_AXIS.search(body):
                said = (
                    f"multiplies blockIdx.{it[1]} by blockDim.{it[2]} and adds threadIdx.{it[3]}: a block has "
                    f"blockDim.{it[3]} threads along {it[3]}."
                )
            elif it := _EXCHANGED.search(body):
                axis = it[1]
                said = (
                    f"multiplies threadIdx.{axis} by blockDim.{axis}: a thread's index is blockIdx.{axis} * "
                    f"blockDim.{axis} + threadIdx.{axis}."
                )
            elif it := _ONE_APART.search(body):
                axis = it[1] or it[2]
                said = (
                    f"adds blockIdx.{axis} and threadIdx.{axis}, so blocks overlap: a block begins at "
                    f"blockIdx.{axis} * blockDim.{axis}."
                )
            else:
                continue
            line = function.line_at(0) + body.count("\n", 0, it.start())
            return f"Line {line} {said}"
        return ""

    def _unused_blocks(self) -> str:
        """A grid of several blocks, along an axis that the kernel never asks."""
        for launch in self.source.launches:
            kernel = launch.kernel
            if self._calls_own_function(kernel) or not re.search(r"\bthreadIdx\b", kernel.body):
                continue
            if kernel.numbered_by_macro:
                continue
            for axis, blocks in zip(_AXES, self._grid_of(launch), strict=False):
                if blocks == "1" or re.search(rf"\bblockIdx\s*\.\s*{axis}\b", kernel.body):
                    continue
                if re.search(r"\b(?:cg|cooperative_groups|asm|thread_rank|block_rank)\b", self.source.text):
                    continue
                return (
                    f"The grid in line {launch.line} has {blocks} blocks along {axis}, and {kernel.name} never uses "
                    f"blockIdx.{axis}: all of them do the same work, on the same elements."
                )
        return ""

    def _axes_of_blocks(self) -> str:
        """An index that counts rows, made of an axis of the grid that counts columns."""
        for launch in self.source.launches:
            kernel, grid = launch.kernel, self._grid_of(launch)
            counted = [names_in(launch.caller.resolved(it)) for it in grid]
            for it in re.finditer(r"\b([A-Za-z_]\w*)\s*(?:<|>=)\s*([A-Za-z_]\w*)\b", kernel.body):
                axes = set(re.findall(r"blockIdx\s*\.\s*([xyz])", kernel.resolved(it[1])))
                value = launch.given.get(it[2], "")
                if len(axes) != 1 or len(counted) < 2 or "threadIdx" not in kernel.resolved(it[1]):
                    continue
                axis = _AXES.index(axes.pop())
                if axis >= len(grid) or not value or value in counted[axis]:
                    continue
                other = next((place for place, names in enumerate(counted) if value in names), None)
                if other is not None:
                    return (
                        f"{it[1]} is made of blockIdx.{_AXES[axis]} and compared with {it[2]} in line "
                        f"{kernel.line_at(it.start())}, but the grid in line {launch.line} has {value} along "
                        f"{_AXES[other]}, and {grid[axis]} blocks along {_AXES[axis]}."
                    )
        return ""

    def _step_of_block(self) -> str:
        """A loop over all blocks' elements that goes on by one block's threads."""
        for kernel in self.source.kernels:
            for begin, _, header in _loops_of(kernel):
                parts = header.split(";")
                step = re.fullmatch(r"\s*(\w+)\s*\+=\s*(.*?)\s*", parts[-1]) if len(parts) == 3 else None
                if step is None or not re.fullmatch(r"blockDim\s*\.\s*[xyz]", kernel.resolved(step[2])):
                    continue
                first = kernel.resolved(plain_value(parts[0].partition("=")[2]))
                bound = re.search(r"<=?\s*(\w+)\s*$", parts[1])
                whole = re.search(r"blockIdx\s*\.\s*([xyz])\s*\)?\s*\*\s*blockDim\s*\.\s*\1", first)
                if whole and bound and bound[1] in {it.name for it in kernel.parameters}:
                    axis = whole[1]
                    return (
                        f"The loop in line {kernel.line_at(begin)} goes on by {plain_value(step[2])}, one block's "
                        f"threads, so blocks go over each other's elements: from blockIdx.{axis} * blockDim.{axis} + "
                        f"threadIdx.{axis} on, the step is gridDim.{axis} * blockDim.{axis}."
                    )
        return ""

    def _grid_of(self, launch: Launch) -> list[str]:
        """The blocks along each axis, as far as it is known."""
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
                return [plain_value(it) for it in split(grid[found.end() : place])]
        return []

    def _calls_own_function(self, kernel: Function) -> bool:
        return any(re.search(rf"\b{name}\s*[(<]", kernel.body) for name in self.source.functions)

    def _arguments_of(self, function: Function) -> dict[str, Argument]:
        """The challenge's arguments that a function's parameters are, as launches pass them."""
        if function.name not in self._arguments:
            self._arguments[function.name] = self._find_arguments(function)
        return self._arguments[function.name]

    def _find_arguments(self, function: Function) -> dict[str, Argument]:
        solve = self.source.solve
        if solve is None or len(solve.parameters) != len(self.manifest.args):
            return {}
        own = {it.name: given for it, given in zip(solve.parameters, self.manifest.args, strict=True)}
        if function is solve:
            return own
        found: dict[str, Argument] = {}
        unclear = set()
        for launch in self.source.launches_of(function):
            for name, value in launch.given.items():
                value = launch.caller.values.get(value, value)
                known = own.get(value) if launch.caller is solve else None
                if known is None or found.setdefault(name, known) is not known:
                    unclear.add(name)
        return {name: it for name, it in found.items() if name not in unclear}

    def _wrong_strides(self, line: int = 0) -> Iterator[str]:
        """Rows of a matrix that are multiplied by another size than its columns'; ``line``: of one access alone."""
        for kernel in self.source.kernels:
            given = self._arguments_of(kernel)
            sizes = {name: it.name for name, it in given.items() if it.kind is Kind.SIZE}
            for access in kernel.accesses:
                matrix = given.get(access.array)
                if matrix is None or len(matrix.shape) != 2 or (line and access.line != line):
                    continue
                right, index = matrix.shape[1], kernel.resolved(access.index)
                if right not in sizes.values() or re.search(r"[/%\[]", index):
                    continue
                factors = {
                    it[1] or it[2]
                    for it in re.finditer(r"\b([A-Za-z_]\w*)\b\s*\*|\*\s*([A-Za-z_]\w*)\b(?!\s*[.(])", index)
                }
                used = {it for it in factors if it in sizes}
                if len(used) != 1 or sizes[wrong := used.pop()] == right:
                    continue
                told = wrong if wrong == sizes[wrong] else f"{wrong}, which is {sizes[wrong]}"
                yield (
                    f"Line {access.line} multiplies a row of {matrix.name} by {told}: {matrix.name} has the shape "
                    f"[{', '.join(matrix.shape)}], so its element [i, j] is at i * {right} + j."
                )

    # Additions that meet

    def _updates(self) -> Iterator[_Update]:
        """Elements that are read, changed and stored without an atomic operation, at places where threads meet."""
        for function in self.source.functions.values():
            arrays = self._arrays_of(function)
            scalars = [
                Access(it.place, it.line, it.name, "", it.operator, it.value)
                for it in function.assignments
                if it.name in arrays
            ]
            for access in (*function.accesses, *scalars):
                if access.array not in arrays or not _changes_itself(access):
                    continue
                tags = self._tags(function, access.index)
                if "unknown" in tags or {"thread", "block"} <= tags:
                    continue
                if "thread" in tags and ("data" in tags or arrays[access.array]):
                    continue
                guarded = (
                    "data" not in tags and _GUARD.search(function.body[: access.place][-200:]) is not None
                )
                if guarded and arrays[access.array]:
                    continue  # one thread of the block does it
                yield _Update(function, access, "data" in tags, not guarded)

    def _arrays_of(self, function: Function) -> dict[str, bool]:
        """Arrays that several threads see; whether only those of one block do."""
        found = {it.name: False for it in function.parameters if it.pointer and function.kernel}
        for it in re.finditer(r"__shared__\s+[\w:<> ]{1,60}?\s+([^;=]*)", function.body):
            found |= {name: True for each in split(it[1]) for name in re.findall(r"^\w+", each)}
        return found

    def _tags(self, function: Function, expression: str, depth: int = 0) -> set[str]:
        """What decides an index: the thread, the block, or data that is read."""
        key = function.name, expression, depth
        if key not in self._known_tags:
            self._known_tags[key] = self._find_tags(function, expression, depth)
        return self._known_tags[key]

    def _find_tags(self, function: Function, expression: str, depth: int) -> set[str]:
        found: set[str] = set()
        outside = expression
        for _ in range(8):
            # What is read from an array is data, however its place is made.
            outside, count = re.subn(r"\b[A-Za-z_]\w*\s*\[[^\[\]]*\]", " DATA ", outside)
            if not count:
                break
        if function.numbered_by_macro or any(
            not _PLAIN_CALL.fullmatch(it[1]) for it in _CALL.finditer(outside)
        ):
            found.add("unknown")
        for name in names_in(outside):
            if name == "DATA":
                found.add("data")
            elif name == "threadIdx":
                found.add("thread")
            elif name == "blockIdx":
                found.add("block")
            elif any(it.name == name for it in function.parameters):
                found |= set() if function.kernel else {"unknown"}
            else:
                values = [it.value for it in function.assignments if it.name == name]
                if depth > 3:
                    found.add("unknown")
                    continue
                for value in values:
                    found |= self._tags(function, re.sub(rf"\b{name}\b", " ", value), depth + 1)
        return found

    def _update(self, function: Function, access: Access) -> str:
        element = f"{access.array}[{access.index}]" if access.index else access.array
        given = self._arguments_of(function).get(access.array)
        told = (
            f" ({access.array} is {given.name})" if given is not None and given.name != access.array else ""
        )
        return (
            f"Line {access.line} reads {element}{told}, changes it and stores it: what another thread stores in "
            f"between is lost. No barrier helps, as several threads do this to the same element: {_atomic_for(access)}."
        )

    def _of_race(self, line: int, message: str) -> str:
        lines = {line, *(int(it) for it in re.findall(r" in line (\d+)", message.split("\n")[0]))}
        array = re.search(r" of (?:the shared array )?(\w+)(?:,| *$)", message.split(", and ")[0])
        for it in self._updates():
            given = self._arguments_of(it.function).get(it.access.array)
            names = {it.access.array, given.name if given is not None else it.access.array}
            if it.access.line in lines and (array is None or array[1] in names | {"memory"}):
                return self._update(it.function, it.access)
        return ""

    # Maxima, exponentials, sums

    def _starts_of_extremes(self) -> Iterator[tuple[bool, Function, str]]:
        """Maxima and minima that start at 0: whether it is a maximum, where, and the words."""
        for function in self.source.functions.values():
            loops = list(_loops_of(function))
            for it in function.assignments:
                if it.operator != "=" or not any(begin <= it.place < end for begin, end, _ in loops):
                    continue
                taken = _extreme_of(function, it)
                # Keys that are unsigned have no value below 0.
                unsigned = re.search(
                    rf"\b(?:unsigned|uint\w*|size_t)\b[\w ]{{0,40}}?\b{it.name}\b", function.body
                )
                if taken is None or unsigned or re.search(r"\bf?abs|\b__habs", function.resolved(it.value)):
                    continue
                started = [
                    one
                    for one in function.assignments
                    if one.name == it.name and one.place < it.place and one.operator == "="
                ]
                if started and _ZERO.fullmatch(started[-1].value):
                    value = started[-1].value
                    smallest = (
                        f" ({value} is the smallest positive number, not the lowest)"
                        if "MIN" in value or "min" in value
                        else ""
                    )
                    word, end = ("maximum", "-INFINITY") if taken else ("minimum", "INFINITY")
                    yield (
                        taken,
                        function,
                        f"Line {started[-1].line} starts the {word} {it.name} at {value}{smallest}: start at {end}, "
                        "or at the first value.",
                    )

    def _extreme_of_zero(self, mismatch: Mismatch, inputs: Mapping[str, torch.Tensor]) -> str:
        for maximum, function, said in self._starts_of_extremes():
            if _all_on_one_side(mismatch, inputs, negative=maximum):
                side = (
                    "negative, and 0 is above all of them"
                    if maximum
                    else "positive, and 0 is below all of them"
                )
                return f"Here all values are {side}. {said}"
            divides = any(re.search(rf"\b{it}\s*\(", function.body) for it in _EXPONENTIALS)
            if maximum and mismatch.kind == "nan" and divides:
                return (
                    "Where all values are far below 0, their exponentials relative to 0 are 0, and 0 / 0 is NaN. "
                    f"{said}"
                )
        return ""

    def _may_overflow(self, inputs: Mapping[str, torch.Tensor]) -> bool:
        read = [it for it in inputs.values() if it.is_floating_point() and it.numel()]
        return len(read) > 1 or any(_largest(it) > _EXPONENT for it in read)

    def _unshifted_exponential(self) -> str:
        """Exponentials that are added up, and from which no maximum was subtracted."""
        for function in self.source.functions.values():
            for place, name, arguments in function.arguments_of(*_EXPONENTIALS):
                if len(arguments) != 1 or not self._is_added(function, place, name):
                    continue
                exponent = function.resolved(plain_value(arguments[0]))
                line = function.line_at(place)
                subtracted = re.search(r"-\s*([A-Za-z_]\w*)\s*$", plain_value(arguments[0]))
                if subtracted is not None:
                    before = [
                        it for it in function.assignments if it.name == subtracted[1] and it.place < place
                    ]
                    if (
                        before
                        and before[-1].operator == "="
                        and _ZERO.fullmatch(before[-1].value)
                        and not _conditional(function, before[-1])
                    ):
                        return (
                            f"The exponential in line {line} subtracts {subtracted[1]}, which line {before[-1].line} "
                            f"sets to {before[-1].value}, so it overflows for large inputs, or all of a row is 0: "
                            "subtract the row's maximum, which changes no quotient."
                        )
                elif "-" not in exponent and not self._calls_within(exponent):
                    return (
                        f"The exponential in line {line} overflows for large inputs, and inf / inf is NaN: subtract "
                        "the row's maximum first, which changes no quotient."
                    )
        return ""

    def _is_added(self, function: Function, place: int, name: str) -> bool:
        """Whether what the call gives is added to a sum."""
        for it in function.assignments:
            if it.operator == "+=" and re.search(rf"\b{name}\s*\(", it.value):
                return True
        into = next((it for it in function.assignments if re.search(rf"\b{name}\s*\(", it.value)), None)
        return into is not None and any(
            it.operator == "+=" and into.name in names_in(it.value) for it in function.assignments
        )

    def _calls_within(self, expression: str) -> bool:
        return any(re.search(rf"\b{name}\s*\(", expression) for name in self.source.functions)

    def _sum_in_half(self) -> str:
        for function in self.source.functions.values():
            if found := _HALF_FRAGMENT.search(function.body):
                return (
                    f"The accumulator in line {function.line_at(found.start())} is made of half: its sums round at "
                    "each step. Let it be of float, and round once, when it is stored."
                )
            halves = {
                name
                for it in _HALF_DECLARED.finditer(function.body)
                for each in split(it[1])
                for name in re.findall(r"^\w+", each)
            }
            sums: list[tuple[int, str, str, str]] = [
                (it.line, it.name, it.operator, it.value) for it in function.assignments
            ]
            sums += [(it.line, it.array, it.operator, it.value) for it in function.accesses]
            for line, name, operator, value in sums:
                if name not in halves:
                    continue
                if operator == "+=" or (operator == "=" and name in names_in(value) and _ADDS.search(value)):
                    return (
                        f"Line {line} adds up in {name}, which has 16 bits: each addition rounds, and a large sum "
                        "takes up no small terms. Sum in float, and round once, when it is stored."
                    )
        return ""

    def _rounds_in_half(self, mismatch: Mismatch, case: Case) -> bool:
        """Whether rounding each step of a sum to 16 bits explains an error."""
        unit = 2.0**-8 if "bfloat" in self.source.text else 2.0**-11
        share = self._share(mismatch)
        return share is None or share <= unit * max(case.sizes.values(), default=1)

    def _share(self, mismatch: Mismatch) -> float | None:
        """The worst error, relative to the sum of absolute values that the tolerance is relative to."""
        worst = next((it for it in mismatch.worst if it.error is not None and it.allowed), None)
        tolerance = self.manifest.tolerance
        if worst is None or worst.error is None or not worst.allowed or not tolerance.rtol:
            return None
        return worst.error * tolerance.rtol / max(worst.allowed - tolerance.atol, 1e-300)

    def _long_sum(self, kind: str, mismatch: Mismatch, case: Case) -> str:
        """A float32 sum of many terms, one after the other, where that explains the error."""
        share, allowed = self._share(mismatch), self.manifest.tolerance.rtol
        if share is None or self._dtype_of(mismatch.argument) is not DType.FLOAT32:
            return ""
        for function in self.source.kernels:
            given = self._arguments_of(function)
            for it in function.assignments:
                declared = re.search(
                    rf"\bfloat\s+(?:[^;()]{{0,200}},\s*)?{it.name}\b", function.body[: it.place]
                )
                if not _adds_to_itself(it) or declared is None or "[" not in function.resolved(it.value):
                    continue
                for begin, end, header in _loops_of(function):
                    size = given.get(_bound_of(header))
                    if not begin <= it.place < end or size is None or size.kind is not Kind.SIZE:
                        continue
                    terms = case.sizes.get(size.name, 0)
                    if share > terms * _UNIT:
                        continue
                    off = (
                        f"The result is off by {share / allowed:.3g} times what is allowed. "
                        if not kind
                        else ""
                    )
                    return (
                        f"{off}Line {it.line} adds up to {size.name} = {terms:,} terms one after the other in one "
                        f"float: each addition rounds, and the error grows with the number of terms (here it may be "
                        f"{terms * _UNIT:.1g} of the sum of their absolute values; allowed is {allowed:.1g}). "
                        "Add in a tree: each thread a part of them, then the threads' sums in pairs."
                    )
        return ""

    def _dtype_of(self, name: str) -> DType | None:
        return next((it.dtype for it in self.manifest.args if it.name == name), None)

    def _variance(self) -> str:
        """A mean of squares less the square of the mean."""
        for function in self.source.functions.values():
            for it in _SQUARE_SUBTRACTED.finditer(function.body):
                mean = it[1] or it[2]
                value = function.values.get(mean, "")
                if "/" in value or "*" in value or "mean" in mean.lower() or mean.lower() == "mu":
                    return (
                        f"Line {function.line_at(it.start())} takes the variance as a mean of squares less the square "
                        f"of {mean}: where the mean is large, the two are nearly equal, and their difference keeps few "
                        "digits, or is below 0. Subtract the mean from each value first, then square."
                    )
        return ""

    def _zero_quotient(self) -> str:
        """A small integer divided by a size."""
        for function in self.source.functions.values():
            for it in _QUOTIENT.finditer(function.body):
                if function.is_integer(it[2]):
                    return (
                        f"Line {function.line_at(it.start())} divides the integer {it[1]} by the integer {it[2]}, "
                        f"which leaves 0 for every {it[2]} above {it[1]}: write {it[1]}.0f / {it[2]}."
                    )
        return ""

    def _cancels(self, mismatch: Mismatch, inputs: Mapping[str, torch.Tensor]) -> bool:
        """Whether in a row of an input the mean is large beside the deviations."""
        for values in inputs.values():
            row = _row_of(values, mismatch)
            if row is None or row.numel() < 2 or not row.is_floating_point():
                continue
            row = row.double()
            mean, variance = float(row.mean()), float(row.var(correction=0))
            if mean * mean > _CANCELLING * variance and mean:
                return True
        return False

    # Errors

    def of_failure(self, failure: Failure) -> str:
        line = failure.line or 0
        if failure.kind == "cuda" and "ILLEGAL_ADDRESS" in failure.type:
            return (
                self._order_of_solve()
                or self._order_of_launch()
                or next(self._wrong_strides(), "")
                or self._block_index()
            )
        if failure.kind != "checker":
            return ""
        if failure.type in ("unwritten", "read_only"):
            return self._order_of_solve()
        if failure.type in _RACES:
            found = failure.message.split("\n")[0]
            both_write = "reads" not in found or "same index" in found
            return (
                self._order_of_solve()
                or (self._unused_blocks() if both_write else "")
                or self._of_race(line, failure.message)
                or self._order_of_launch()
                or next(self._wrong_strides(line), "")
                or self._block_index()
                or self._step_of_block()
            )
        if failure.type == "out_of_bounds":
            return (
                self._order_of_solve()
                or self._order_of_launch()
                or next(self._wrong_strides(line), "")
                or self._guard(line, failure.message)
            )
        return ""

    def _guard(self, line: int, message: str) -> str:
        """What is wrong with the condition around an access past the end, or that there is none."""
        kernel, said = self.source.kernel_at(line), message.split("\n")[0]
        if kernel is None or "behind the end" not in said or "of the shared array" in said:
            return ""
        here = [it for it in kernel.accesses if it.line == line and re.fullmatch(r"[A-Za-z_]\w*", it.index)]
        if not here or len({it.index for it in here}) != 1:
            return ""
        name = here[0].index
        if "threadIdx" not in kernel.resolved(name):
            return ""
        compared = [
            (kernel.line_at(it.start()), it[1], it[2])
            for it in re.finditer(rf"\b{name}\s*(<=?|>=?)(?![<>])[\s(]*([A-Za-z_][\w.]*)", kernel.body)
        ]
        compared += [
            (kernel.line_at(it.start()), it[2].translate(_TURNED), it[1])
            for it in re.finditer(
                rf"(?<![<\w.])([A-Za-z_][\w.]*)\s*(<=?|>=?)(?![<>])\s*{name}\b", kernel.body
            )
        ]
        compared.sort(key=lambda it: it[0])
        conditions = [" ".join(it) for _, _, it in kernel.arguments_of("if", "while", "for")]
        conditions += [it.rpartition("?")[0] for it in re.split(r"[;{}]", kernel.body)]
        if not compared and any(name in names_in(_without_indices(it)) for it in conditions):
            return ""  # it is compared in a way that is not understood
        if not compared:
            return (
                f"Nothing compares {name} with a size: the last block has threads past the end. Put line {line} under "
                f"if ({name} < ...)."
            )
        first, operator, bound = compared[0]
        given = self._arguments_of(kernel)
        size = given[bound].name if bound in given and given[bound].kind is Kind.SIZE else ""
        if first > line and size:
            return (
                f"Line {line} uses {name} before line {first} asks whether it is below {bound}: the last block has "
                "threads past the end, and they come here, too. Move it under that condition."
            )
        arrays = [given[it.array] for it in here if it.array in given]
        fits = any(it.shape == [size] for it in arrays)
        if first <= line and fits and (operator == "<=" or (operator == ">" and "return" in kernel.body)):
            return f"Line {first} lets {name} = {bound} through: indices count from 0, so the last one is {bound} - 1."
        return ""

    def adds_to(self, result: str) -> bool:
        """Whether a kernel reads it, or an atomic goes there, or something is done with it that is not understood."""
        solve = self.source.solve
        own = [it.name for it in solve.parameters] if solve is not None else []
        names = [it.name for it in self.manifest.args]
        if solve is None or len(own) != len(names) or result not in names:
            return True
        name = own[names.index(result)]
        plain = 0
        for launch in self.source.launches:
            for parameter, value in launch.given.items():
                if value == name:
                    plain += 1
                    if not _only_stores(launch.kernel, parameter):
                        return True
        uses = len(re.findall(rf"\b{name}\b", solve.body))
        return plain != uses or not plain


@dataclass(frozen=True)
class _Update:
    """``meets_by_data``: threads meet where data sends them; ``everywhere``: no condition picks one thread."""

    function: Function
    access: Access
    meets_by_data: bool
    everywhere: bool


_TURNED = str.maketrans("<>", "><")
_CALL = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
# Calls of which the result depends on the arguments alone.
_PLAIN_CALL = re.compile(
    r"u?int(?:\d+_t)?|unsigned|long|size_t|float|double|short|char|bool|sizeof|f?(?:min|max)f?|abs|fabsf?|floorf?|ceilf?"
    r"|__float2int_r[dnuz]"
)
# No factor stands in front, which would be divided, too.
_QUOTIENT = re.compile(
    r"(?<=[-=+(,?:{;<>&|!])\s?\b([1-9]\d{0,8})[uUlL]*\s*/\s*([A-Za-z_]\w*)\b(?!\s*(?:[(\[.]|->|::))"
)
_SQUARE_SUBTRACTED = re.compile(
    r"(?:/\s*\(?\s*[\w.>()\- ]{1,40}|\b\w+)\s*-\s*"
    r"(?:([A-Za-z_]\w*)\s*\*\s*\1\b|(?:powf?)\s*\(\s*([A-Za-z_]\w*)\s*,\s*2)"
)
# Casts around what threads and blocks are numbered by.
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


def _changes_itself(access: Access) -> bool:
    """Whether what is stored comes of what was there, and of no other element of that array."""
    if access.operator in ("++", "--"):
        return True
    others = len(re.findall(rf"\b{access.array}\b", access.value))
    if access.operator == "=":
        return others > 0 and len(re.findall(_element_pattern(access), access.value)) == others
    return access.operator.endswith("=") and not others


def _element_pattern(access: Access) -> str:
    array = rf"\b{access.array}\b"
    if not access.index:
        return array
    element = rf"{array}\s*\[\s*{re.escape(access.index)}\s*\]"
    return element if access.index != "0" else rf"{element}|\*\s*{array}"


def _atomic_for(access: Access) -> str:
    place = f"&{access.array}[{access.index}]" if access.index else f"&{access.array}"
    if access.operator == "--":
        return f"atomicSub({place}, 1) does it in one step"
    if access.operator in ("++", "+=", "-="):
        value = "1" if access.operator == "++" else f"{'-' * (access.operator == '-=')}..."
        return f"atomicAdd({place}, {value}) does it in one step"
    if extreme := re.search(r"\bf?(max|min)f?\s*\(", access.value):
        return f"atomic{extreme[1].capitalize()} does it in one step (for integers)"
    if "+" in access.value:
        return f"atomicAdd({place}, ...) does it in one step"
    return "an atomic operation does it in one step"


def _loops_of(function: Function) -> Iterator[tuple[int, int, str]]:
    """Where the body of each loop begins and ends, and what is in the loop's parentheses."""
    for it in re.finditer(r"\b(?:for|while)\s*\(", function.body):
        close = function.source.partner(function.begin + it.end() - 1) - function.begin
        if close < 0:
            continue
        opened = re.compile(r"\s*\{").match(function.body, close + 1)
        if opened:
            end = function.source.partner(function.begin + opened.end() - 1) - function.begin
        else:
            end = function.body.find(";", close)
            inner = function.body.rfind("for", close, end)
            # Of a loop without braces within: up to the end of its statement.
            while (
                inner > 0
                and end > 0
                and function.body.count("(", close, end) > function.body.count(")", close + 1, end)
            ):
                end = function.body.find(";", end + 1)
        if end > close:
            yield close, end, function.body[it.end() : close]


def _conditional(function: Function, it: Assignment) -> bool:
    """Whether an if decides on it."""
    before = function.body[: it.place].rstrip()
    return before.endswith(")") or re.search(r"(?:\)|\belse)\s*\{?$", before) is not None


def _bound_of(header: str) -> str:
    """What a loop that goes on by one each time counts up to."""
    parts = header.split(";")
    if len(parts) != 3 or not re.search(r"\+\+|\+=\s*1\s*$", parts[2]):
        return ""
    found = re.fullmatch(r"\s*\w+\s*<\s*(.*?)\s*", parts[1])
    return plain_value(found[1]) if found else ""


def _adds_to_itself(it: Assignment) -> bool:
    return it.operator == "+=" or (it.operator == "=" and re.match(rf"{it.name}\s*\+", it.value) is not None)


def _extreme_of(function: Function, it: Assignment) -> bool | None:
    """Whether an assignment takes the larger, or the smaller, of what was there and something else."""
    if found := re.match(r"(?:std::)?_*h?f?(max|min)[fl]?\s*\(", it.value):
        return found[1] == "max" if it.name in names_in(it.value) else None
    if found := re.match(r"[^?]*([<>])=?[^?]*\?", it.value):
        left = it.name in names_in(it.value.partition(found[1])[0])
        right = it.name in names_in(it.value.partition(found[1])[2].partition("?")[0])
        chosen = it.value.partition("?")[2].partition(":")
        if left == right or it.name not in names_in(chosen[0] + chosen[2]):
            return None
        kept = it.name in names_in(chosen[0])
        return (found[1] == ">") == (left == kept)
    before = function.body[: it.place]
    found = re.search(r"\bif\s*\(([^;{}<>]*)([<>])=?([^;{}<>]*)\)\s*\{?\s*$", before[-300:])
    if found is None:
        return None
    name = rf"\s*{it.name}\s*"
    if re.fullmatch(name, found[3]):
        return found[2] == ">"
    return found[2] == "<" if re.fullmatch(name, found[1]) else None


def _row_of(values: torch.Tensor, mismatch: Mismatch) -> torch.Tensor | None:
    """The part of an input that the first wrong element is made of: its row, or all of a vector."""
    if not values.numel():
        return None
    if values.dim() < 2:
        return values
    index = mismatch.index or []
    return values[index[0]].reshape(-1) if index and index[0] < values.shape[0] else None


def _all_on_one_side(mismatch: Mismatch, inputs: Mapping[str, torch.Tensor], *, negative: bool) -> bool:
    for values in inputs.values():
        row = _row_of(values, mismatch)
        if row is not None and bool((row < 0).all() if negative else (row > 0).all()):
            return True
    return False


def _largest(values: torch.Tensor) -> float:
    import torch

    finite = values[torch.isfinite(values)]
    return float(finite.abs().max()) if finite.numel() else 0.0


def _only_stores(kernel: Function, name: str) -> bool:
    """Whether all that a kernel does with a pointer is to store to what it points at."""
    stores = [
        it
        for it in kernel.accesses
        if it.array == name and it.operator == "=" and not _mentions(it.value, name)
    ]
    return len(stores) == len(re.findall(rf"\b{name}\b", kernel.body))


def _without_indices(expression: str) -> str:
    for _ in range(8):
        expression, count = re.subn(r"\[[^\[\]]*\]", " ", expression)
        if not count:
            break
    return expression


def _mentions(expression: str, name: str) -> bool:
    return name in names_in(expression)
