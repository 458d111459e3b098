"""Wrong addresses: strides, masks, stores to one element."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.challenge.model import Kind
from grader.judge.explaining.triton.expressions import expanded_names, names_in, resolved
from grader.judge.explaining.triton.grids import grid_too_small
from grader.judge.explaining.triton.program import NO_MISMATCH, Program
from grader.judge.explaining.triton.source import Access, Kernel, operation_of, walk
from grader.judge.explaining.wrong import Pattern
from grader.judge.messages import Failure
from grader.schemas.report import Mismatch


def strides(program: Program, pattern: Pattern | None, mismatch: Mismatch) -> str:
    return next(wrong_strides(program), "")


def wrong_strides(program: Program, line: int = 0) -> Iterator[str]:
    """``line``: only there."""
    for kernel in program.source.kernels.values():
        given = program.given(kernel)
        sizes = {name: argument.name for name, argument in given.items() if argument.kind is Kind.SIZE}
        for access in kernel.accesses:
            matrix = given.get(access.parameter)
            if matrix is None or len(matrix.shape) != 2 or (line and access.line != line):
                continue
            right = matrix.shape[1]
            if right not in sizes.values():
                continue
            factors = _factors(resolved(access.pointer, kernel, everything=True), set(sizes))
            used = {sizes[name] for name in factors}
            if not factors and (block := _block_for_row(access, kernel, sizes, right)):
                yield (
                    f"The tl.{access.operation} in line {access.line} multiplies a row of {matrix.name} by {block}: "
                    f"{matrix.name} has the shape [{', '.join(matrix.shape)}], so its element [i, j] is at "
                    f"i * {right} + j, however large a block is."
                )
            if used and right not in used:
                wrong = next(iter(factors))
                named = wrong if wrong == sizes[wrong] else f"{wrong}, which is {sizes[wrong]}"
                yield (
                    f"The tl.{access.operation} in line {access.line} multiplies a row of {matrix.name} by {named}: "
                    f"{matrix.name} has the shape [{', '.join(matrix.shape)}], so its element [i, j] is at "
                    f"i * {right} + j."
                )


def _block_for_row(access: Access, kernel: Kernel, sizes: dict[str, str], right: str) -> str:
    """The row's factor, if the mask compares only columns with their number."""
    if access.mask is None:
        return ""
    pointer = resolved(access.pointer, kernel, everything=True)
    named = names_in(pointer) | names_in(access.pointer)
    if any(size == right for name, size in sizes.items() if name in named):
        return ""
    for node in walk(resolved(access.mask, kernel, everything=True)):
        if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], ast.Lt):
            continue
        bound = node.comparators[0]
        if (
            isinstance(bound, ast.Name)
            and sizes.get(bound.id) == right
            and not _multiplied(node.left, kernel)
        ):
            return next(iter(sorted(_multiplied(pointer, kernel))), "")
    return ""


def _multiplied(tree: ast.expr, kernel: Kernel) -> set[str]:
    return {
        side.id
        for node in walk(tree)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)
        for side in (node.left, node.right)
        if isinstance(side, ast.Name) and side.id in kernel.constants
    }


def bounds_of_one_index(program: Program, pattern: Pattern | None, mismatch: Mismatch) -> str:
    for kernel in program.source.kernels.values():
        sizes = {name for name, argument in program.given(kernel).items() if argument.kind is Kind.SIZE}
        seen: dict[str, tuple[str, int]] = {}
        for node in walk(*kernel.node.body):
            if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], ast.Lt):
                continue
            bound, left = node.comparators[0], node.left
            vector = names_in(left) if expanded_names(left) else set()
            if isinstance(bound, ast.Name) and bound.id in sizes and len(vector) == 1:
                name = vector.pop()
                before = seen.setdefault(name, (bound.id, node.lineno))
                if before[0] != bound.id:
                    return (
                        f"Line {before[1]} compares {name} with {before[0]}, and line {node.lineno} compares it "
                        f"with {bound.id}: one of the masks bounds the wrong axis."
                    )
    return ""


def stores_outside(program: Program, name: str) -> str:
    """Such a write is found after the call, so its line is unknown."""
    stored = program.parameter_of(name)
    for launch in program.source.launches:
        for access in launch.kernel.accesses:
            value = launch.given.get(access.parameter)
            stores = access.operation != "load" and isinstance(value, ast.Name) and value.id == stored
            if stores and (said := _wrong_mask(access, launch.kernel)):
                return said
    return ""


def _wrong_mask(access: Access, kernel: Kernel) -> str:
    what = f"tl.{access.operation} in line {access.line}"
    if access.mask is None:
        return (
            f"The {what} has no mask: in the last block some offsets are past the end. Pass mask=offsets < size, "
            "with the offsets that the pointer uses."
        )
    mask = resolved(access.mask, kernel)
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
    if loop and loop in names_in(resolved(access.pointer, kernel)) and loop not in names_in(mask):
        return (
            f"The mask of the {what} does not contain {loop}, but the pointer does: compare the offsets that are "
            "read, block by block."
        )
    wide = expanded_names(resolved(access.pointer, kernel))
    bounded = expanded_names(mask)
    if (missing := sorted(wide - bounded)) and bounded:
        return (
            f"The mask of the {what} bounds only {' and '.join(sorted(bounded))}, but the pointer also uses "
            f"{missing[0]}: a tile at the edge needs both, joined by &."
        )
    return (
        f"The mask of the {what} lets offsets past the end through: compare the same offsets that the pointer uses "
        "with the size of that array."
    )


def _overlap(program: Program, kernel: Kernel, accesses: list[Access]) -> str:
    stores = [access for access in kernel.accesses if access.operation == "store"]
    here = [
        access for access in stores if access.parameter in {each.parameter for each in accesses}
    ] or stores
    launched = [launch for launch in program.source.launches if launch.kernel is kernel]
    if not kernel.program_axes and here:
        return (
            f"The kernel {kernel.name} never uses tl.program_id: every program does the same work and stores to "
            "the same elements."
        )
    if said := grid_too_small(program, None, NO_MISMATCH):
        return said
    by_program = _program_names(kernel)
    for store in here:
        depends = bool(names_in(resolved(store.pointer, kernel)) & by_program)
        loaded = any(
            access.operation == "load" and access.parameter == store.parameter for access in kernel.accesses
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
    return bounds_of_one_index(program, None, NO_MISMATCH)


def checker_error(program: Program, failure: Failure, line: int) -> str:
    kernel = program.source.kernel_at(line)
    accesses = program.source.accesses_at(line)
    if kernel is None:
        return ""
    if failure.type == "out_of_bounds":
        turned = next((finding for finding in program.findings("axes") if finding.line == line), None)
        if turned is not None:
            return f"{turned.text}."
        if stride := next(wrong_strides(program, line), ""):
            return stride
        unlike = bounds_of_one_index(program, None, NO_MISMATCH)
        if f"line {line} " in unlike.lower():
            return unlike
        said = failure.message.split("\n")[0]
        if "before the beginning of" in said or " at address " in said:
            return ""  # the mask is not to blame
        verb = "load" if " reads " in said else "store"
        mine = [access for access in accesses if (access.operation == "load") == (verb == "load")] or accesses
        return next((said for access in mine if (said := _wrong_mask(access, kernel))), "")
    if failure.type.endswith("_race") and " at once: " in failure.message.split("\n")[0]:
        return _added_by_lanes(kernel, line)
    if failure.type == "global_race":
        return _overlap(program, kernel, accesses)
    return ""


def _added_by_lanes(kernel: Kernel, line: int) -> str:
    """A store of changed loaded values at their addresses."""
    for call in walk(*kernel.node.body):
        if operation_of(call) != "store" or not isinstance(call, ast.Call) or len(call.args) < 2:
            continue
        if not call.lineno <= line <= (call.end_lineno or line):
            continue
        pointer = ast.unparse(resolved(call.args[0], kernel, everything=True))
        values = [
            call.args[1],
            *(kernel.values[name] for name in names_in(call.args[1]) if name in kernel.values),
        ]
        for load in walk(*values):
            if operation_of(load) != "load" or not isinstance(load, ast.Call) or not load.args:
                continue
            if ast.unparse(resolved(load.args[0], kernel, everything=True)) == pointer:
                return (
                    f"Line {line} stores what was loaded from {ast.unparse(call.args[0])}, changed: lanes with the "
                    "same address lose each other's changes, and so do programs. tl.atomic_add does it in one step."
                )
    return ""


def _factors(pointer: ast.expr, sizes: set[str]) -> set[str]:
    found: set[str] = set()
    for node in walk(pointer):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            found |= (names_in(node.left) if isinstance(node.left, ast.Name) else set()) & sizes
            found |= (names_in(node.right) if isinstance(node.right, ast.Name) else set()) & sizes
    return found if len(found) == 1 else set()


def _program_names(kernel: Kernel) -> set[str]:
    found: set[str] = set()
    for _ in range(4):
        for name, value in kernel.assigned.items():
            if any(operation_of(node) == "program_id" for node in walk(value)) or names_in(value) & found:
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
