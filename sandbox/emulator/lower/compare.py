from __future__ import annotations

from ..names import NONE
from ..ptx import SIZES, Instruction
from .arithmetic import flushed
from .kernel import Kernel, bits_of, handles
from .rows import Unsupported


@handles("testp")
def _testp(k: Kernel, _: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    k.alu(f"testp_{m[0]}_{m[-1]}", k.register(o[0]), k.value(o[1], m[-1]))


@handles("selp")
def _selp(k: Kernel, _: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    kind = m[-1]
    suffix = "pred" if kind == "pred" else bits_of(kind)
    k.alu(f"selp_{suffix}", k.register(o[0]), k.value(o[1], kind), k.value(o[2], kind), k.value(o[3], "pred"))


@handles("slct")
def _slct(k: Kernel, _: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    kind, by = m[-2], m[-1]
    selector = k.value(o[3], by)
    if "ftz" in m:
        k.alu("flush_f32", k.spare, selector)
        selector = k.spare
    width = "b64" if SIZES[kind] == 8 else "b32"
    k.alu(f"slct_{width}_{by}", k.register(o[0]), k.value(o[1], kind), k.value(o[2], kind), selector)


_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


@handles("setp")
def _setp(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    kind = m[-1]
    first, _, second = o[0].partition("|")
    combine = next((modifier for modifier in m[1:] if modifier in ("and", "or", "xor")), None)
    operands = _compared(k, m, o[1:3])
    if kind in ("f16x2", "bf16x2"):
        for half, name in enumerate((first, second)):
            if name != "_":
                d = k.register(name)
                _compare_halves(k, m[0], kind, operands, half, d)
                if combine:
                    k.alu(f"{combine}_pred", d, d, k.value(o[3], "pred"))
        return
    d = k.register(first) if not second and not combine else k.spare_pred
    _compare(k, m[0], kind, operands, d)
    if d is not k.spare_pred and not second and not combine:
        return
    other = k.value(o[3], "pred") if combine else NONE
    if second and second != "_":
        k.alu("not_pred", k.register(second), k.spare_pred)
        if combine:
            k.alu(f"{combine}_pred", k.register(second), k.register(second), other)
    if first != "_":
        if combine:
            k.alu(f"{combine}_pred", k.register(first), k.spare_pred, other)
        else:
            k.alu("mov_pred", k.register(first), k.spare_pred)


def _compared(k: Kernel, m: tuple[str, ...], o: list[str]) -> list[int]:
    """Of its last type."""
    kind = m[-1]
    operands = [k.value(operand, kind) for operand in o]
    return flushed(k, operands, kind) if "ftz" in m and kind in ("f32", "f16", "f16x2") else operands


def _compare(k: Kernel, how: str, kind: str, operands: list[int], d: int) -> None:
    if kind[0] == "b" and kind not in ("bf16", "bf16x2"):
        kind = kind.replace("b", "u")
    k.alu(f"setp_{_UNSIGNED.get(how, how)}_{kind}", d, *operands)


def _compare_halves(k: Kernel, how: str, kind: str, operands: list[int], half: int, d: int) -> None:
    for at, operand in zip((k.spare, k.spare + 1), operands, strict=True):
        k.alu("half_f16x2", at, operand, imm=half)
    _compare(k, how, kind.removesuffix("x2"), [k.spare, k.spare + 1], d)


@handles("set")
def _set(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    source, target = m[-1], m[-2]
    d, operands = k.register(o[0]), _compared(k, m, o[1:3])
    combine = next((modifier for modifier in m[1:] if modifier in ("and", "or", "xor")), None)
    found = (k.spare_pred, k.spare_pred2)
    for half in range(2 if source.endswith("x2") else 1):
        if source.endswith("x2"):
            _compare_halves(k, m[0], source, operands, half, found[half])
        else:
            _compare(k, m[0], source, operands, found[half])
        if combine:
            k.alu(f"{combine}_pred", found[half], found[half], k.register(o[3]))
    if source.endswith("x2"):
        k.alu("join_preds" if target == "u32" else f"join_ones_{target}", d, *found)
    elif target in ("u32", "s32", "b32"):
        k.alu("b32_of_pred", d, found[0])
    elif target in ("u16", "s16"):
        k.alu("b16_of_pred", d, found[0])
    elif target == "f32":
        k.alu("f32_of_pred", d, found[0])
    elif target in ("f16", "bf16"):
        one = 0x3C00 if target == "f16" else 0x3F80
        k.alu("selp_b16", d, k.constant(one, 4), k.constant(0, 4), found[0])
    else:
        raise Unsupported(i.opcode, i.place)
