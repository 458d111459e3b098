from __future__ import annotations

from ..names import COMPARISON, VIDEO, VIDEO_MAD, VIDEO_SECOND
from ..ptx import Instruction
from .kernel import Kernel, handles

_VIDEO = tuple(f"v{name.lower()}" for name in VIDEO)


def _part(text: str) -> tuple[str, str]:
    """``-%r1.h0`` is ``-%r1`` and ``h0``."""
    name, _, part = text.partition(".")
    return name, part


def _one_part(part: str) -> int:
    """Bits and place of struct video."""
    if part[:1] not in ("", "b", "h"):
        raise ValueError(f"a selector '{part}'")
    return {"": 32, "b": 8, "h": 16}[part[:1]] | int(part[1:] or 0) << 8


def _parts(part: str, lanes: int, default: int) -> int:
    """Each lane's place, from ``h10`` or ``b3210``: the last digit is lane 0's."""
    digits = [int(digit) for digit in reversed(part[1:])] or list(range(default, default + lanes))
    if len(digits) != lanes or any(digit >= 2 * lanes for digit in digits):
        raise ValueError(f"a selector '{part}'")
    return sum(digit << 4 * lane for lane, digit in enumerate(digits))


@handles(*_VIDEO, *(name + lanes for name in (*_VIDEO[:6], "vset") for lanes in "24"))
def _video(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    lanes = int(i.name[-1]) if i.name[-1] in "24" else 1
    operation = VIDEO[i.name[1:].rstrip("24")]
    signs = [modifier == "s32" for modifier in m if modifier in ("u32", "s32")]
    compares = i.name.startswith("vset")
    d_signed, a_signed, b_signed = [False, *signs] if compares else signs
    (d, into), (a, a_from), (b, b_from) = (_part(operand) for operand in o[:3])
    second = next((VIDEO_SECOND[modifier] for modifier in m if modifier in VIDEO_SECOND), 0)
    negated = (a[0] == "-") ^ (b[0] == "-")
    c_negated = len(o) > 3 and o[3][0] == "-"
    mad = sum(
        flag
        for flag, holds in (
            (VIDEO_MAD.PLUS_ONE, "po" in m),
            (VIDEO_MAD.PRODUCT_NEGATED, negated),
            (VIDEO_MAD.C_NEGATED, c_negated),
            (VIDEO_MAD.BY_7, "shr7" in m),
            (VIDEO_MAD.BY_15, "shr15" in m),
        )
        if holds
    )
    if lanes == 1:
        selectors = [_one_part(selector) for selector in (a_from, b_from, into)]
    else:
        written = sum(1 << int(digit) for digit in into[1:]) if into else (1 << lanes) - 1
        selectors = [_parts(a_from, lanes, 0), _parts(b_from, lanes, lanes), written]
    words = [
        operation, lanes, d_signed, a_signed, b_signed, "sat" in m, second, *selectors,
        next((COMPARISON[modifier] for modifier in m if modifier in COMPARISON), 0), mad, "wrap" in m,
    ]  # fmt: skip
    described = k.describe([int(word) for word in words])
    operands = [k.value(operand.lstrip("-"), "b32") for operand in (a, b, *o[3:])]
    k.alu("video", k.register(d), *operands, *[k.constant(0, 4)] * (3 - len(operands)), imm=described)
