from __future__ import annotations

import re

from ..names import ELEMENT, MATRIX, MATRIX_MOVE, NONE, OPERAND, SPACE
from ..ptx import SIZES, Instruction, number, split_operands
from .kernel import Kernel, handles, space_of
from .rows import Unsupported


@handles("ldmatrix", "stmatrix")
def _move_matrices(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    if m[-1] != "b16" or "m8n8" not in m:
        raise Unsupported(i.opcode, i.place)
    stores = i.name == "stmatrix"
    fragment, address = (o[1], o[0]) if stores else (o[0], o[1])
    registers = [k.register(operand) for operand in split_operands(fragment[1:-1])]
    if len(registers) not in (1, 2, 4):
        raise Unsupported(i.opcode, i.place)
    base, at, wide = k.memory(address, SPACE.SHARED)
    padded = registers + [NONE] * (4 - len(registers))
    k.control(
        "MATRIX",
        d=padded[0],
        a=base,
        b=padded[1],
        c=padded[2],
        e=padded[3],
        imm=at,
        size=(MATRIX_MOVE.TRANSPOSED if "trans" in m else 0) | (MATRIX_MOVE.STORED if stores else 0),
        count=len(registers),
        space=SPACE.SHARED,
        wide=wide,
    )


# A's.
MATRIX_BITS = {
    "tf32": 32, "f16": 16, "bf16": 16, "s8": 8, "u8": 8, "e4m3": 8, "e5m2": 8, "s4": 4, "u4": 4,
}  # fmt: skip


# Several elements in a byte.
_SMALL = {"s4": 4, "u4": 4, "b1": 1}


_OPERANDS = {"a": OPERAND.OPERAND_A, "b": OPERAND.OPERAND_B, "c": OPERAND.OPERAND_D, "d": OPERAND.OPERAND_D}
_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)$")


def _units(k: Kernel, text: str, kind: str) -> list[int]:
    return (
        [k.value(operand, kind) for operand in split_operands(text[1:-1])]
        if text[0] == "{"
        else [k.value(text, kind)]
    )


def _matrix(
    k: Kernel,
    i: Instruction,
    kind: int,
    types: list[str],
    which: int,
    by_row: tuple[bool, bool],
    flag: bool,
    groups: list[list[int]],
) -> int:
    """As matrix.c's struct matrix. Returns the word."""
    shape = next(found for modifier in i.modifiers if (found := _SHAPE.match(modifier)))
    if any(
        name not in ELEMENT or (name[0] == "e" and kind not in (MATRIX.MULTIPLY_MMA, MATRIX.MULTIPLY_SPARSE))
        for name in types
    ):
        raise Unsupported(i.opcode, i.place)
    m, n, depth = (int(size) for size in shape.groups())
    if not (
        min(m, n, depth) > 0 and max(m * n, m * depth, depth * n) <= 4096 and sum(map(len, groups)) <= 64
    ):
        raise Unsupported(i.opcode, i.place)
    # Types of A, B, C and D; D's group is first.
    if any(
        32 * len(group) * (32 // (MATRIX_BITS | _SMALL).get(element, 32)) > 4096
        for group, element in zip([*groups[1:], groups[0]], types, strict=True)
    ):
        raise Unsupported(i.opcode, i.place)
    if types[0] in _SMALL and (
        kind == MATRIX.STORE_FRAGMENT
        or (kind == MATRIX.LOAD_FRAGMENT and (which == OPERAND.OPERAND_D or depth * _SMALL[types[0]] % 32))
    ):
        raise Unsupported(i.opcode, i.place)
    numbers = [ELEMENT[kind] for kind in types]
    words = [
        kind,
        m,
        n,
        depth,
        *numbers,
        which,
        *map(int, by_row),
        int(flag),
        *map(len, groups),
    ]
    words += [unit for group in groups for unit in group]
    return k.describe(words)


@handles("wmma")
def _wmma(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    layouts = [modifier for modifier in m if modifier in ("row", "col")]
    if m[0] in ("load", "store"):
        which, kind = _OPERANDS.get(m[1]), m[-1]
        if which is None:
            raise Unsupported(i.opcode, i.place)
        fragment, address = (o[0], o[1]) if m[0] == "load" else (o[1], o[0])
        space = space_of(m)
        base, at, wide = k.memory(address, space)
        if base == NONE:
            base = k.constant(at, 8)
            at, wide = 0, 2
        units = _units(k, fragment, "f64" if kind == "f64" else "b32")
        groups: list[list[int]] = [[], [], [], []]
        groups[0 if which == OPERAND.OPERAND_D else which + 1] = units
        described = _matrix(
            k,
            i,
            MATRIX.LOAD_FRAGMENT if m[0] == "load" else MATRIX.STORE_FRAGMENT,
            [kind] * 4,
            which,
            (layouts[0] == "row",) * 2,
            False,
            groups,
        )
        k.granule = min(k.granule, SIZES[kind] if m[0] == "store" else 4)
        stride = k.value(o[2], "b32") if len(o) > 2 else NONE
        k.control(
            "MATRIX",
            a=described,
            b=base,
            c=stride,
            e=k.matrix_units,
            imm=at,
            count=0,
            space=space,
            wide=4 if wide else 0,
        )
        return
    named = [modifier for modifier in m if modifier in ELEMENT]
    d_type, a_type, b_type, c_type = (named[0], "f16", "f16", named[1]) if len(named) == 2 else named
    _multiply(k, i, MATRIX.MULTIPLY_WMMA, (d_type, a_type, b_type, c_type), o, "satfinite" in m or "xor" in m)


@handles("mma")
def _mma(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    named = [modifier for modifier in m if modifier in ELEMENT]
    if len(named) != 4:
        raise Unsupported(i.opcode, i.place)
    if m[0].partition("::")[0] == "sp":
        _mma_sparse(k, i, named, o)
        return
    quads = "m8n8k4" in m and named[1] == "f16"
    _multiply(
        k,
        i,
        MATRIX.MULTIPLY_QUADS if quads else MATRIX.MULTIPLY_MMA,
        (named[0], named[1], named[2], named[3]),
        o,
        "satfinite" in m or "xor" in m,
    )


# By type and depth of A.
_SELECTORS = {
    **dict.fromkeys((("f16", 16), ("bf16", 16), ("tf32", 8)), 4),
    **dict.fromkeys((("f16", 32), ("bf16", 32), ("tf32", 16), ("s8", 32), ("u8", 32), ("s4", 64), ("u4", 64)), 2),
    **dict.fromkeys((("s8", 64), ("u8", 64), ("e4m3", 64), ("e5m2", 64), ("s4", 128), ("u4", 128)), 1),
}  # fmt: skip


def _mma_sparse(k: Kernel, i: Instruction, named: list[str], o: list[str]) -> None:
    """``named``: D, A, B, C."""
    shape = next(found for modifier in i.modifiers if (found := _SHAPE.match(modifier)))
    d, a, b, c = named
    m, n, depth = (int(size) for size in shape.groups())
    selector = number(o[5])
    groups = [_units(k, text, "b32") for text in o[:4]]
    if a not in MATRIX_BITS:
        raise Unsupported(i.opcode, i.place)
    packed = 32 // MATRIX_BITS[a]
    wanted = [
        2 if d == "f16" else 4,
        m * depth // 2 // packed // 32,
        depth * n // packed // 32,
        2 if c == "f16" else 4,
    ]
    if (
        (m, n) != (16, 8)
        or MATRIX_BITS.get(b) != MATRIX_BITS[a]
        or [len(group) for group in groups] != wanted
        or selector is None
        or not 0 <= selector < _SELECTORS.get((a, depth), 0)
    ):
        raise Unsupported(i.opcode, i.place)
    groups[3].append(k.value(o[4], "b32"))
    described = _matrix(
        k,
        i,
        MATRIX.MULTIPLY_SPARSE,
        [a, b, c, d],
        selector,
        (True, False),
        "satfinite" in i.modifiers,
        groups,
    )
    k.control("MATRIX", a=described, count=0)


@handles("movmatrix")
def _movmatrix(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    if m[-3:] != ("m8n8", "trans", "b16"):
        raise Unsupported(i.opcode, i.place)
    words = [MATRIX.TRANSPOSE, 8, 8, *[0] * 9, 1, 1, 0, 0, k.register(o[0]), k.register(o[1])]
    k.control("MATRIX", a=k.describe(words), count=0)


def _multiply(
    k: Kernel, i: Instruction, kind: int, types: tuple[str, str, str, str], o: list[str], flag: bool
) -> None:
    d, a, b, c = types
    groups = [
        _units(k, text, "f64" if kind == "f64" else "b32") for text, kind in zip(o, (d, a, b, c), strict=True)
    ]
    if kind == MATRIX.MULTIPLY_QUADS:
        expected = [4 if d == "f16" else 8, 2, 2, 4 if c == "f16" else 8]
        if (
            [len(group) for group in groups] != expected
            or any(kind not in ("f16", "f32") for kind in (d, c))
            or b != "f16"
        ):
            raise Unsupported(i.opcode, i.place)
    layouts = [modifier for modifier in i.modifiers if modifier in ("row", "col")]
    by_row = (layouts[0] == "row", layouts[1] == "row")
    k.control("MATRIX", a=_matrix(k, i, kind, [a, b, c, d], OPERAND.OPERAND_D, by_row, flag, groups), count=0)
