from __future__ import annotations

import re

from ..names import ELEMENT, EVERY, NONE, SPACE
from ..ptx import Instruction, number, split_operands
from .asynchronous import asynchronous, wide_value
from .kernel import Kernel, handles
from .rows import Unsupported

_DEPTHS = {"f16": 16, "bf16": 16, "tf32": 8, "s8": 32, "u8": 32, "e4m3": 32, "e5m2": 32, "b1": 256}
_SHAPE = re.compile(r"m64n(\d+)k(\d+)$")


@handles("wgmma")
def _wgmma(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    if m[0] == "fence":
        asynchronous(k, "PRODUCT_FENCE")
    elif m[0] == "commit_group":
        asynchronous(k, "PRODUCT_COMMIT")
    elif m[0] == "wait_group":
        left = number(o[0])
        if left is None or not 0 <= left <= EVERY:
            raise Unsupported(i.opcode, i.place)
        asynchronous(k, "PRODUCT_WAIT", imm=left)
    elif m[0] == "mma_async" and "sp" not in m:
        _product(k, i, m, o)
    else:
        raise Unsupported(i.opcode, i.place)


def _product(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    refused = Unsupported(i.opcode, i.place)
    shape = next(found for modifier in m if (found := _SHAPE.match(modifier)))
    d_type, a_type, b_type = [modifier for modifier in m if modifier in ELEMENT]
    n, depth = int(shape[1]), int(shape[2])
    eights = a_type in ("e4m3", "e5m2")
    integers, bits = a_type in ("s8", "u8"), a_type == "b1"
    same = (
        a_type == b_type or (eights and b_type in ("e4m3", "e5m2")) or (integers and b_type in ("s8", "u8"))
    )
    results = ("s32",) if integers or bits else ("f16", "f32") if a_type == "f16" or eights else ("f32",)
    if not same or depth != _DEPTHS.get(a_type) or d_type not in results or n % 8 or not 8 <= n <= 256:
        raise refused
    d = [k.register(operand) for operand in split_operands(o[0][1:-1])]
    in_registers = o[1].startswith("{")
    a = [k.value(operand, "b32") for operand in split_operands(o[1][1:-1])] if in_registers else []
    if len(d) != (n // 4 if d_type == "f16" else n // 2) or (in_registers and len(a) != 4):
        raise refused
    if any(k.width(operand) != 4 for operand in split_operands(o[0][1:-1])):
        raise refused
    numbers = [number(operand) for operand in o[4:]]
    halves = a_type in ("f16", "bf16")
    expected = 0 if integers or bits else 2 + (2 - int(in_registers) if halves else 0)
    if (
        len(numbers) != expected
        or any(value not in (1, -1) for value in numbers[:2])
        or any(value not in (0, 1) for value in numbers[2:])
    ):
        raise refused
    scales = [int(value == -1) for value in numbers[:2]] or [0, 0]
    transposed = [value or 0 for value in numbers[2:]] if halves else [0, 0]
    if halves and in_registers:
        transposed = [0, *transposed]
    types = [ELEMENT[kind] for kind in (d_type, a_type, b_type)]
    words = [
        n,
        depth,
        *types,
        *transposed,
        *scales,
        int("satfinite" in m),
        len(d),
        len(a),
        *(a + [0] * (4 - len(a))),
        *d,
    ]
    words += [0] * (128 - len(d))
    at = len(k.pool)
    k.pool.extend(words + [0] * (-len(words) % 32))
    k.granule = min(k.granule, 4)
    b_described = wide_value(k, o[2])
    a_described = NONE if in_registers else wide_value(k, o[1])
    asynchronous(
        k, "PRODUCT", b=a_described, c=b_described, e=k.value(o[3], "pred"), imm=at, space=SPACE.SHARED
    )
