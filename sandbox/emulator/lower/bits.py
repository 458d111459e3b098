from __future__ import annotations

from ..names import PERMUTATION
from ..ptx import Instruction, number
from .kernel import Kernel, bits_of, handles


@handles("and", "or", "xor", "not", "cnot", "shl")
def _logic(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    kind = m[-1]
    suffix = "pred" if kind == "pred" else bits_of(kind)
    second = "b32" if i.name == "shl" else kind
    k.alu(
        f"{i.name}_{suffix}",
        k.register(o[0]),
        k.value(o[1], kind),
        *[k.value(operand, second) for operand in o[2:]],
    )


@handles("shr")
def _shr(k: Kernel, _: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    k.alu(f"shr_{m[-1].replace('b', 'u')}", k.register(o[0]), k.value(o[1], m[-1]), k.value(o[2], "b32"))


@handles("shf")
def _shf(k: Kernel, _: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    k.alu(f"shf_{m[0]}_{m[1]}", k.register(o[0]), *[k.value(operand, "b32") for operand in o[1:]])


@handles("popc", "clz", "brev", "bfind", "bfe", "bfi")
def _bit_field(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    kind = m[-1]
    if "shiftamt" in m:
        kind = f"shiftamt_{kind}"
    words = {"bfe": [kind, "b32", "b32"], "bfi": [kind, kind, "b32", "b32"]}.get(i.name, [kind])
    k.alu(
        f"{i.name}_{kind}",
        k.register(o[0]),
        *[
            k.value(operand, word.removeprefix("shiftamt_"))
            for operand, word in zip(o[1:], words, strict=True)
        ],
    )


@handles("fns", "bmsk")
def _bit_search(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    k.alu("_".join((i.name, *m)), k.register(o[0]), *[k.value(operand, "b32") for operand in o[1:]])


@handles("prmt")
def _prmt(k: Kernel, _: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    k.alu(
        "prmt_b32", k.register(o[0]), *[k.value(operand, "b32") for operand in o[1:]], imm=PERMUTATION[m[-1]]
    )


@handles("lop3")
def _lop3(k: Kernel, __: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    first, _, second = o[0].partition("|")
    d = k.spare if first == "_" else k.register(first)
    k.alu("lop3_b32", d, *[k.value(operand, "b32") for operand in o[1:4]], imm=number(o[4]) or 0)
    if len(m) > 1:
        k.alu("pred_of_b32", k.spare_pred, d)
        k.alu(f"{m[0]}_pred", k.register(second), k.spare_pred, k.value(o[5], "pred"))


@handles("szext")
def _szext(k: Kernel, _: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    k.alu(f"szext_{m[0]}_{m[-1]}", k.register(o[0]), k.value(o[1], "b32"), k.value(o[2], "b32"))
