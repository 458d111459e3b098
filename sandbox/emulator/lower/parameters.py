"""Param-space variables: words of registers."""

from __future__ import annotations

from ..ptx import SIZES
from .kernel import Kernel


def param_word(k: Kernel, kind: str, d: int, name: str, offset: int) -> None:
    size, at = SIZES[kind], k.word(name, offset, SIZES[kind])
    if size == 8:
        k.alu("join_64", d, at, at + 1)
    elif size == 4:
        k.alu("mov_b32", d, at)
    else:
        signed = "s" if kind[0] == "s" else "u"
        k.alu(f"bfe_{signed}32", d, at, k.constant(8 * (offset % 4), 4), k.constant(8 * size, 4))


def store_param(k: Kernel, kind: str, value: int, name: str, offset: int) -> None:
    size, at = SIZES[kind], k.word(name, offset, SIZES[kind])
    if size == 8:
        k.alu("piece_32_of_64", at, value, imm=0)
        k.alu("piece_32_of_64", at + 1, value, imm=1)
    elif size == 4:
        k.alu("mov_b32", at, value)
    elif offset % 4 == 0 and size == 2:
        k.alu("ext32_u16", at, value)
    else:
        k.alu("bfi_b32", at, value, at, k.constant(8 * (offset % 4), 4), k.constant(8 * size, 4))
