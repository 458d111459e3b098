"""Names mistakes in Triton sources: a rule is a pattern of wrong numbers, or an error, and what the source does."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.challenge.cases import Case
from grader.challenge.dtypes import DType
from grader.challenge.model import Argument, Kind, Manifest
from grader.judge.evidence import Pattern
from grader.judge.messages import Failure
from grader.judge.triton_source import (
    Access,
    Kernel,
    Launch,
    TritonSource,
    argument,
    operation_of,
    read,
    walk,
)
from grader.judge.triton_tiles import Finding, constants_of, findings_of
from grader.schemas.report import Mismatch

if TYPE_CHECKING:
    import torch

_NOT_NUMBERS = ("nan", "inf")
# An expression that grows beyond this is left as it is.
_MOST_NODES = 2_000
# Instead of a mismatch, for rules that look at the source alone.
_NO_MISMATCH = Mismatch(argument="", kind="unwritten", wrong=1, total=2)


@dataclass
class TritonMistakes:
    manifest: Manifest
    source: TritonSource

    @classmethod
    def of(cls, manifest: Manifest, text: str) -> TritonMistakes | None:
        """None if the text cannot be read."""
        source = read(text)
        return cls(manifest, source) if source is not None else None

    def suspicions(self) -> list[str]:
        rules = (
            self._result_not_written,
            self._grid_too_small,
            self._bounds_of_one_index,
            self._axes_of_programs,
            self._axes,
            self._strides,
            self._neutral,
            self._unused_argument,
        )
        half = [finding.text for finding in self._findings("half_sum")]
        return [said for rule in rules if (said := rule(None, _NO_MISMATCH))] + half

    # Wrong results

    def of_result(
        self,
        pattern: Pattern | None,
        mismatch: Mismatch,
        case: Case,
        inputs: Mapping[str, torch.Tensor],
    ) -> str:
        if mismatch.kind == "out_of_bounds":
            return self._stores_outside(mismatch.argument)
        if mismatch.kind in ("late", "input_changed", "not_cleared"):
            return ""
        rules = (
            self._result_not_written,
            self._grid_too_small,
            self._bounds_of_one_index,
            self._axes_of_programs,
            self._axes,
            self._strides,
            self._reduced_axis,
            self._neutral,
            self._unshifted_exponential,
            self._sums_in_half,
            self._reduced_precision,
            self._unused_argument,
        )
        return next((said for rule in rules if (said := rule(pattern, mismatch))), "")

    def _result_not_written(self, pattern: Pattern | None, mismatch: Mismatch) -> str:
        """Nothing was written, and the source shows that nothing can be."""
        solve, name = self.source.solve, mismatch.argument
        if solve is None or mismatch.kind != "unwritten" or mismatch.wrong < mismatch.total:
            return ""
        name = self._parameter_of(name)
        for node in walk(*solve.body):
            if isinstance(node, ast.Assign) and any(
                isinstance(target, ast.Name) and target.id == name for target in node.targets
            ):
                return (
                    f"Line {node.lineno} gives the name {name} to another tensor; the judge reads the one that solve "
                    f"was called with. Write into that one: have a kernel store to {name}, or {name}.copy_(...)."
                )
        for node in walk(*solve.body):
            if isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
                return (
                    f"solve returns its result in line {node.lineno}, but the judge does not read return values. "
                    f"Write it into {name}: have a kernel store to {name}, or {name}.copy_(...)."
                )
        if not self.source.launches and self.source.kernels:
            return f"solve launches no kernel: call it with a grid, {next(iter(self.source.kernels))}[grid](...)."
        return ""

    def _parameter_of(self, argument: str) -> str:
        names = [given.name for given in self.manifest.args]
        solve = self.source.solve
        own = [parameter.arg for parameter in solve.args.args] if solve is not None else []
        return own[names.index(argument)] if argument in names and len(own) == len(names) else argument

    def _grid_too_small(self, pattern: Pattern | None, mismatch: Mismatch) -> str:
        if mismatch.kind != "unwritten" and (pattern is None or pattern.kind not in ("tail", "zeros")):
            return ""
        for launch in self.source.launches:
            kernel, axes = launch.kernel, launch.axes
            stores = [access for access in kernel.accesses if access.operation == "store"]
            grid = self._grid_of(launch)
            if not stores or _is_one(grid.body if isinstance(grid, ast.Lambda) else grid):
                continue
            if not kernel.program_axes and not _calls_helpers(kernel, self.source):
                return (
                    f"The kernel {kernel.name} never uses tl.program_id, so every program of the grid in line "
                    f"{launch.line} does the same work: add tl.program_id(0) * BLOCK to the offsets."
                )
            unknown = [axis for axis in kernel.program_axes if axis is not None and axes and axis >= axes]
            if unknown:
                return (
                    f"The kernel {kernel.name} uses tl.program_id({unknown[0]}), but the grid in line {launch.line} "
                    f"has {axes} dimension{'s' * (axes > 1)}: there it is always 0."
                )
            if axes > 1 and None not in kernel.program_axes and not _calls_helpers(kernel, self.source):
                missing = [
                    axis
                    for axis in range(axes)
                    if axis not in kernel.program_axes and not _is_one_at(launch, axis)
                ]
                if missing:
                    return (
                        f"The grid in line {launch.line} has {axes} dimensions, but the kernel {kernel.name} never "
                        f"uses tl.program_id({missing[0]}): programs along that axis do the same work."
                    )
        for launch in self.source.launches:
            if divided := _divided_down(self._grid_of(launch)):
                return (
                    f"The grid in line {launch.line} rounds down ({divided}), so the last, partial block has no "
                    "program: use triton.cdiv."
                )
        return ""

    def _grid_of(self, launch: Launch) -> ast.expr:
        grid = launch.grid
        if isinstance(grid, ast.Name) and self.source.solve is not None:
            for node in walk(*self.source.solve.body):
                if isinstance(node, ast.Assign) and any(
                    isinstance(target, ast.Name) and target.id == grid.id for target in node.targets
                ):
                    return node.value
        return grid

    def _findings(self, *kinds: str) -> list[Finding]:
        constants = constants_of(self.source.tree)
        found = []
        for kernel in self.source.kernels.values():
            found += findings_of(kernel, self._pointers_of(kernel), constants)
        return [finding for finding in found if finding.kind in kinds]

    def _given(self, kernel: Kernel) -> dict[str, Argument]:
        arguments = {self._parameter_of(argument.name): argument for argument in self.manifest.args}
        found = {}
        for launch in self.source.launches:
            for parameter, value in launch.given.items() if launch.kernel is kernel else ():
                if isinstance(value, ast.Name) and value.id in arguments:
                    found[parameter] = arguments[value.id]
        return found

    def _pointers_of(self, kernel: Kernel) -> dict[str, DType | None]:
        found: dict[str, DType | None] = {
            access.parameter: None for access in kernel.accesses if access.parameter
        }
        given = self._given(kernel)
        return found | {name: argument.dtype for name, argument in given.items() if argument.kind.buffer}

    def _axes_of_programs(self, pattern: Pattern | None, mismatch: Mismatch) -> str:
        """A program id that counts rows, on an axis of the grid that counts columns."""
        for launch in self.source.launches:
            kernel, axes = launch.kernel, launch.axes
            grid = launch.grid.body if isinstance(launch.grid, ast.Lambda) else launch.grid
            if axes < 2 or not isinstance(grid, ast.Tuple):
                continue
            counted = [_names(element) for element in grid.elts]
            for vector, axis, bound in _bounded_by_programs(kernel):
                value = launch.given.get(bound)
                if not isinstance(value, ast.Name) or axis >= axes or value.id in counted[axis]:
                    continue
                other = next((place for place, names in enumerate(counted) if value.id in names), None)
                if other is not None:
                    return (
                        f"{vector} is computed from tl.program_id({axis}) and compared with {bound}, but axis {axis} "
                        f"of the grid in line {launch.line} is {ast.unparse(grid.elts[axis])}: {value.id} is on axis "
                        f"{other}."
                    )
        return ""

    def _strides(self, pattern: Pattern | None, mismatch: Mismatch) -> str:
        return next(self._wrong_strides(), "")

    def _wrong_strides(self, line: int = 0) -> Iterator[str]:
        """Rows of a matrix that are multiplied by a size other than its number of columns; ``line``: only there."""
        for kernel in self.source.kernels.values():
            given = self._given(kernel)
            sizes = {name: argument.name for name, argument in given.items() if argument.kind is Kind.SIZE}
            for access in kernel.accesses:
                matrix = given.get(access.parameter)
                if matrix is None or len(matrix.shape) != 2 or (line and access.line != line):
                    continue
                right = matrix.shape[1]
                if right not in sizes.values():
                    continue
                factors = _factors(_resolved(access.pointer, kernel, everything=True), set(sizes))
                used = {sizes[name] for name in factors}
                if used and right not in used:
                    wrong = next(iter(factors))
                    told = wrong if wrong == sizes[wrong] else f"{wrong}, which is {sizes[wrong]}"
                    yield (
                        f"The tl.{access.operation} in line {access.line} multiplies a row of {matrix.name} by {told}: "
                        f"{matrix.name} has the shape [{', '.join(matrix.shape)}], so its element [i, j] is at "
                        f"i * {right} + j."
                    )

    def _bounds_of_one_index(self, pattern: Pattern | None, mismatch: Mismatch) -> str:
        """The same indices are compared with two sizes."""
        for kernel in self.source.kernels.values():
            sizes = {name for name, argument in self._given(kernel).items() if argument.kind is Kind.SIZE}
            seen: dict[str, tuple[str, int]] = {}
            for node in walk(*kernel.node.body):
                if (
                    not isinstance(node, ast.Compare)
                    or len(node.ops) != 1
                    or not isinstance(node.ops[0], ast.Lt)
                ):
                    continue
                bound, left = node.comparators[0], node.left
                vector = _names(left) if _expanded(left) else set()
                if isinstance(bound, ast.Name) and bound.id in sizes and len(vector) == 1:
                    name = vector.pop()
                    before = seen.setdefault(name, (bound.id, node.lineno))
                    if before[0] != bound.id:
                        return (
                            f"Line {before[1]} compares {name} with {before[0]}, and line {node.lineno} compares it "
                            f"with {bound.id}: one of the masks bounds the wrong axis."
                        )
        return ""

    def _reduced_axis(self, pattern: Pattern | None, mismatch: Mismatch) -> str:
        if pattern is None or pattern.kind != "other_axis":
            return ""
        for kernel in self.source.kernels.values():
            for call in walk(*kernel.node.body):
                if isinstance(call, ast.Call) and _operation(call) in (
                    "sum",
                    "max",
                    "min",
                    "argmax",
                    "argmin",
                    "cumsum",
                ):
                    axis = argument(call, 1, "axis")
                    if isinstance(axis, ast.Constant) and isinstance(axis.value, int):
                        return f"Line {call.lineno} reduces along axis={axis.value}: is it the other one?"
        return ""

    def _axes(self, pattern: Pattern | None, mismatch: Mismatch) -> str:
        found = self._findings("axes", "broadcast")
        return f"{found[0].text}." if found else ""

    def _neutral(self, pattern: Pattern | None, mismatch: Mismatch) -> str:
        if pattern is not None and pattern.kind not in ("factor", "offset", "tail", "rounding", "repeated"):
            return ""
        found = self._findings("neutral")
        return f"{found[0].text}." if found else ""

    def _unshifted_exponential(self, pattern: Pattern | None, mismatch: Mismatch) -> str:
        """An overflow in a kernel that takes exponentials of its inputs but no maximum."""
        if mismatch.kind not in _NOT_NUMBERS or mismatch.expected in ("nan", "inf", "-inf"):
            return ""
        for kernel in self.source.kernels.values():
            calls = [node for node in walk(*kernel.node.body) if isinstance(node, ast.Call)]
            names = {_operation(call) for call in calls}
            exponential = next((call for call in calls if _operation(call) in ("exp", "exp2")), None)
            if exponential is not None and "sum" in names and not names & {"max", "maximum"}:
                return (
                    f"The exponential in line {exponential.lineno} overflows for large inputs, and inf / inf is NaN: "
                    "subtract the row's maximum first, which changes no quotient."
                )
        return ""

    def _sums_in_half(self, pattern: Pattern | None, mismatch: Mismatch) -> str:
        if pattern is None or pattern.kind not in ("rounding", "rounded_inputs"):
            return ""
        found = self._findings("half_sum")
        if not found:
            return ""
        return f"Line {found[0].line} adds up in {found[0].text}: sum in float32, and round once, when it is stored."

    def _reduced_precision(self, pattern: Pattern | None, mismatch: Mismatch) -> str:
        if pattern is None or pattern.kind not in ("rounding", "rounded_inputs"):
            return ""
        if any(given.dtype.half for given in self.manifest.buffers if given.kind is Kind.INPUT):
            return ""
        for kernel in self.source.kernels.values():
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

    def _unused_argument(self, pattern: Pattern | None, mismatch: Mismatch) -> str:
        if pattern is not None and pattern.kind in (
            "turned",
            "turned_tiles",
            "shifted",
            "read_turned",
            "exchanged",
        ):
            return ""
        for given in self.manifest.args:
            if given.kind not in (Kind.INPUT, Kind.INOUT, Kind.SCALAR):
                continue
            if pattern is not None and pattern.kind == "ignored" and given.name not in pattern.names:
                continue
            if said := self._unused(self._parameter_of(given.name)):
                return said
        return ""

    def _unused(self, name: str) -> str:
        """A parameter of solve that the source never uses."""
        solve = self.source.solve
        if solve is None or name not in [parameter.arg for parameter in solve.args.args]:
            return ""
        if not _reads(solve.body, name):
            return f"solve never uses its argument {name}."
        taken = [
            (launch.kernel, parameter)
            for launch in self.source.launches
            for parameter, value in launch.given.items()
            if isinstance(value, ast.Name) and value.id == name
        ]
        if not taken or any(parameter in kernel.used for kernel, parameter in taken):
            return ""
        kernel, parameter = taken[0]
        told = f"{parameter}, which is {name}" if parameter != name else name
        return f"The kernel {kernel.name} never uses its parameter {told}."

    def _stores_outside(self, name: str) -> str:
        """A write past the end of an array, found after the call: its line is not known."""
        stored = self._parameter_of(name)
        for launch in self.source.launches:
            for access in launch.kernel.accesses:
                value = launch.given.get(access.parameter)
                stores = access.operation != "load" and isinstance(value, ast.Name) and value.id == stored
                if stores and (said := self._mask_of(access, launch.kernel)):
                    return said
        return ""

    # Errors

    def of_failure(self, failure: Failure) -> str:
        line = failure.line or 0
        if failure.kind == "checker":
            return self._of_checker(failure, line)
        rules = (
            self._no_grid,
            self._parameter_order,
            self._indexed_pointer,
            self._missing_argument,
            self._not_constant,
            self._by_message,
        )
        return next((said for rule in rules if (said := rule(failure, line))), "")

    def _of_checker(self, failure: Failure, line: int) -> str:
        kernel = self.source.kernel_at(line)
        accesses = self.source.accesses_at(line)
        if kernel is None:
            return ""
        if failure.type == "out_of_bounds":
            turned = next((finding for finding in self._findings("axes") if finding.line == line), None)
            if turned is not None:
                return f"{turned.text}."
            if stride := next(self._wrong_strides(line), ""):
                return stride
            unlike = self._bounds_of_one_index(None, _NO_MISMATCH)
            if f"line {line} " in unlike.lower():
                return unlike
            said = failure.message.split("\n")[0]
            if "before the beginning of" in said or " at address " in said:
                return ""  # a mask that compares with a size is not to blame
            verb = "load" if " reads " in said else "store"
            mine = [
                access for access in accesses if (access.operation == "load") == (verb == "load")
            ] or accesses
            return next((said for access in mine if (said := self._mask_of(access, kernel))), "")
        if failure.type == "global_race" and " at once: " not in failure.message.split("\n")[0]:
            return self._overlap(kernel, accesses)
        return ""

    def _mask_of(self, access: Access, kernel: Kernel) -> str:
        what = f"tl.{access.operation} in line {access.line}"
        if access.mask is None:
            return (
                f"The {what} has no mask: in the last block some offsets are past the end. Pass mask=offsets < size, "
                "with the offsets that the pointer uses."
            )
        mask = _resolved(access.mask, kernel)
        for node in walk(mask):
            if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.LtE):
                right = node.comparators[0]
                if not (isinstance(right, ast.BinOp) and isinstance(right.op, ast.Sub)) and not isinstance(
                    right, ast.Constant
                ):
                    said = ast.unparse(node)
                    return (
                        f"The mask of the {what} lets {said} through: indices count from 0, so the last one is "
                        f"{ast.unparse(right)} - 1. Use <."
                    )
        loop = _loop_around(access, kernel)
        if loop and loop in _names(_resolved(access.pointer, kernel)) and loop not in _names(mask):
            return (
                f"The mask of the {what} does not contain {loop}, but the pointer does: compare the offsets that are "
                "read, block by block."
            )
        wide = _expanded(_resolved(access.pointer, kernel))
        bounded = _expanded(mask)
        if (missing := sorted(wide - bounded)) and bounded:
            return (
                f"The mask of the {what} bounds only {' and '.join(sorted(bounded))}, but the pointer also uses "
                f"{missing[0]}: a tile at the edge needs both, joined by &."
            )
        return (
            f"The mask of the {what} lets offsets past the end through: compare the same offsets that the pointer uses "
            "with the size of that array."
        )

    def _overlap(self, kernel: Kernel, accesses: list[Access]) -> str:
        stores = [access for access in kernel.accesses if access.operation == "store"]
        here = [
            access for access in stores if access.parameter in {each.parameter for each in accesses}
        ] or stores
        launched = [launch for launch in self.source.launches if launch.kernel is kernel]
        if not kernel.program_axes and here:
            return (
                f"The kernel {kernel.name} never uses tl.program_id: every program does the same work and stores to "
                "the same elements."
            )
        if said := self._grid_too_small(None, _NO_MISMATCH):
            return said
        by_program = _program_names(kernel)
        for store in here:
            depends = bool(_names(_resolved(store.pointer, kernel)) & by_program)
            loaded = any(
                access.operation == "load" and access.parameter == store.parameter
                for access in kernel.accesses
            )
            if loaded and not depends:
                return (
                    f"Every program loads, adds and stores {store.parameter} at the same address, in line "
                    f"{store.line}: another program stores in between. tl.atomic_add does it in one step."
                )
            if not depends and launched:
                return (
                    f"The address of the tl.store in line {store.line} is the same in every program: it does not "
                    "depend on tl.program_id. Use tl.atomic_add, or one element for each program and a second kernel."
                )
        return self._bounds_of_one_index(None, _NO_MISMATCH)

    def _no_grid(self, failure: Failure, line: int) -> str:
        solve = self.source.solve
        for node in walk(*solve.body) if solve is not None else ():
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in self.source.kernels
            ):
                name = node.func.id
                return (
                    f"Line {node.lineno} calls the kernel {name} like a function: a launch needs its grid in brackets, "
                    f"{name}[(triton.cdiv(n, BLOCK),)](...)."
                )
        return ""

    def _indexed_pointer(self, failure: Failure, line: int) -> str:
        kernel = self.source.kernel_at(line)
        if kernel is None:
            return ""
        for node in walk(*kernel.node.body):
            if (
                not isinstance(node, ast.Subscript)
                or node.lineno != line
                or not isinstance(node.value, ast.Name)
            ):
                continue
            name = node.value.id
            if name in kernel.parameters and name not in kernel.constants and not _only_expands(node.slice):
                index = ast.unparse(node.slice)
                return (
                    f"{name} is a pointer, which cannot be indexed: read with tl.load({name} + {index}, mask=...), "
                    f"write with tl.store({name} + {index}, value, mask=...)."
                )
        return ""

    def _missing_argument(self, failure: Failure, line: int) -> str:
        for launch in self.source.launches:
            if launch.line <= line <= launch.line + 8 or not line:
                arguments = launch.kernel.node.args
                optional = (
                    arguments.args[len(arguments.args) - len(arguments.defaults) :]
                    if arguments.defaults
                    else []
                )
                without = {argument.arg for argument in optional}
                missing = [
                    parameter
                    for parameter in launch.kernel.parameters
                    if parameter not in launch.given and parameter not in without
                ]
                if missing and "argument" in failure.message and not self._is_tuned(launch.kernel):
                    return f"The launch in line {launch.line} gives {launch.kernel.name} no {' and no '.join(missing)}."
        return ""

    def _parameter_order(self, failure: Failure, line: int) -> str:
        names = [argument.name for argument in self.manifest.args]
        solve = self.source.solve
        own = [parameter.arg for parameter in solve.args.args] if solve is not None else []
        if own == names or sorted(own) != sorted(names):
            return ""
        return (
            f"solve takes ({', '.join(own)}), and the judge passes ({', '.join(names)}): use the challenge's order of "
            "arguments."
        )

    def _by_message(self, failure: Failure, line: int) -> str:
        return next((hint for pattern, hint in _BY_MESSAGE if pattern.search(failure.message)), "")

    def _is_tuned(self, kernel: Kernel) -> bool:
        return any(
            "autotune" in ast.unparse(node) or "heuristics" in ast.unparse(node)
            for node in kernel.node.decorator_list
        )

    def _not_constant(self, failure: Failure, line: int) -> str:
        kernel = self.source.kernel_at(line)
        if kernel is None or "constexpr" not in failure.message:
            return ""
        for node in walk(*kernel.node.body):
            shapes = operation_of(node) in ("arange", "zeros", "full")
            if isinstance(node, ast.Call) and shapes and node.lineno == line:
                for name in _names(node):
                    if name in kernel.parameters and name not in kernel.constants:
                        return (
                            f"A shape depends on {name}, so it must be known when the kernel is compiled: write "
                            f"{name}: tl.constexpr in the parameters of {kernel.name}."
                        )
        return ""

    def adds_to(self, result: str) -> bool:
        """True if it is loaded, changed by an atomic, or changed by torch in place."""
        name = self._parameter_of(result)
        for launch in self.source.launches:
            for access in launch.kernel.accesses:
                value = launch.given.get(access.parameter)
                if access.operation != "store" and isinstance(value, ast.Name) and value.id == name:
                    return True
        solve = self.source.solve
        return solve is None or any(
            isinstance(node, ast.AugAssign) or (isinstance(node, ast.Attribute) and node.attr.endswith("_"))
            for node in walk(*solve.body)
        )


# Messages of Triton's compiler, and hints.
_BY_MESSAGE = (
    (
        re.compile(r"arange's range must be a power of 2"),
        "Use the next power of two, triton.next_power_of_2(...), and mask everything beyond the size.",
    ),
    (
        re.compile(r"Boolean value of Tensor with more than one value|bool\(.*tensor|logical (?:and|or)"),
        "A tile has a condition for each element, so and, or, not and if do not work. Use & and | with parentheses, ~, "
        "tl.where, or mask=.",
    ),
    (
        re.compile(r"incompatible dimensions|Cannot broadcast|Cannot make_shape_compatible"),
        "The shapes do not fit. A reduction and tl.arange give one axis: [:, None] makes a column of it, and "
        "[None, :] a row.",
    ),
    (
        re.compile(r"Pointer argument .* cannot be accessed from Triton|cpu tensor"),
        "A kernel takes tensors on the GPU: create it with device=x.device for an argument x of solve.",
    ),
    (
        re.compile(r"out of resource: shared memory"),
        "The tiles need more shared memory than a multiprocessor has: use smaller blocks, or a smaller num_stages.",
    ),
)


def _operation(call: ast.Call) -> str:
    return operation_of(call) or (call.func.attr if isinstance(call.func, ast.Attribute) else "")


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_one(grid: ast.expr) -> bool:
    parts = grid.elts if isinstance(grid, ast.Tuple) else [grid]
    return all(isinstance(part, ast.Constant) and part.value == 1 for part in parts)


def _is_one_at(launch: Launch, axis: int) -> bool:
    grid = launch.grid.body if isinstance(launch.grid, ast.Lambda) else launch.grid
    return isinstance(grid, ast.Tuple) and _is_one(grid.elts[axis])


def _calls_helpers(kernel: Kernel, source: TritonSource) -> bool:
    """True if the kernel calls another function under jit, which may use it."""
    return any(isinstance(node, ast.Name) and node.id in source.kernels for node in walk(*kernel.node.body))


def _divided_down(grid: ast.expr) -> str:
    """The text of a floor division that rounds down, with nothing added to the result."""
    grid = grid.body if isinstance(grid, ast.Lambda) else grid
    for part in grid.elts if isinstance(grid, ast.Tuple) else [grid]:
        if any(
            isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and _divides(node)
            for node in walk(part)
        ):
            continue
        for node in walk(part):
            match node:
                case ast.BinOp(left=ast.BinOp() | ast.UnaryOp()):
                    continue
                case ast.BinOp(op=ast.FloorDiv()):
                    return ast.unparse(node)
    return ""


def _divides(tree: ast.AST) -> bool:
    return any(isinstance(node, ast.FloorDiv) for node in walk(tree))


def _reads(body: list[ast.stmt], name: str) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        for node in walk(*body)
    )


def _names(tree: ast.AST) -> set[str]:
    return {node.id for node in walk(tree) if isinstance(node, ast.Name)}


class _Substitute(ast.NodeTransformer):
    def __init__(self, values: dict[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.values.get(node.id, node)


def _resolved(expression: ast.expr, kernel: Kernel, everything: bool = False) -> ast.expr:
    """The expression with names of masks and pointers (with ``everything``: also of indices) replaced by their values,
    two deep."""
    values = kernel.values if everything else kernel.conditions
    for _ in range(2):
        found = _Substitute(values).visit(ast.parse(ast.unparse(expression), mode="eval").body)
        # Values are shared nodes, so a small tree can unfold to a huge one.
        if next(itertools.islice(walk(found), _MOST_NODES, None), None) is not None:
            break
        expression = found
    return expression


def _factors(pointer: ast.expr, sizes: set[str]) -> set[str]:
    """The one size that is a factor in a pointer's arithmetic; empty if there are several."""
    found: set[str] = set()
    for node in walk(pointer):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            found |= (_names(node.left) if isinstance(node.left, ast.Name) else set()) & sizes
            found |= (_names(node.right) if isinstance(node.right, ast.Name) else set()) & sizes
    return found if len(found) == 1 else set()


def _bounded_by_programs(kernel: Kernel) -> Iterator[tuple[str, int, str]]:
    """Vectors of indices, the axis of their program id, and the parameter that they are compared with."""
    assigned = kernel.assigned
    axes: dict[str, set[int]] = {}
    for _ in range(3):
        for name, value in assigned.items():
            found = set()
            for node in walk(value):
                asks = operation_of(node) == "program_id"
                axis = argument(node, 0, "axis") if isinstance(node, ast.Call) and asks else None
                if isinstance(axis, ast.Constant) and isinstance(axis.value, int):
                    found.add(axis.value)
                if isinstance(node, ast.Name) and node.id != name:
                    found |= axes.get(node.id, set())
            axes[name] = found
    for node in walk(*kernel.node.body):
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Lt):
            bound, names = node.comparators[0], _names(node.left)
            if isinstance(bound, ast.Name) and bound.id in kernel.parameters and len(names) == 1:
                name = names.pop()
                if len(axes.get(name, ())) == 1:
                    yield name, next(iter(axes[name])), bound.id


def _program_names(kernel: Kernel) -> set[str]:
    found: set[str] = set()
    for _ in range(4):
        for name, value in kernel.assigned.items():
            if any(operation_of(node) == "program_id" for node in walk(value)) or _names(value) & found:
                found.add(name)
    return found | {"program_id"}


def _loop_around(access: Access, kernel: Kernel) -> str:
    for node in walk(*kernel.node.body):
        match node:
            case ast.For(target=ast.Name(id=name)) if (
                node.lineno <= access.line <= (node.end_lineno or node.lineno)
            ):
                return name
    return ""


def _expanded(tree: ast.AST) -> set[str]:
    found = set()
    for node in walk(tree):
        if isinstance(node, ast.Subscript) and _only_expands(node.slice):
            found |= set(_names(node.value))
    return found


def _only_expands(place: ast.expr) -> bool:
    parts = place.elts if isinstance(place, ast.Tuple) else [place]
    return any(_is_none(part) for part in parts) and all(
        _is_none(part) or isinstance(part, ast.Slice) for part in parts
    )
