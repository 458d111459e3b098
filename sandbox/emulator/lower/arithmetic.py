from __future__ import annotations

from ..names import DOT, NONE, ROUND
from ..ptx import Instruction
from .kernel import Kernel, handles
from .rows import Unsupported

ROUNDINGS = {
    **{"rn": ROUND.NEAREST, "rz": ROUND.TO_ZERO, "rm": ROUND.DOWN, "rp": ROUND.UP},
    **{"rni": ROUND.NEAREST, "rzi": ROUND.TO_ZERO, "rmi": ROUND.DOWN, "rpi": ROUND.UP},
}


@handles(
    "add",
    "sub",
    "mul",
    "mad",
    "fma",
    "div",
    "min",
    "max",
    "abs",
    "neg",
    "sqrt",
    "rcp",
    "rsqrt",
    "ex2",
    "lg2",
    "sin",
    "cos",
    "tanh",
    "rem",
    "sad",
)
def _arithmetic(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    kind, name = m[-1], i.name
    if kind == "f32x2":
        raise Unsupported(i.opcode, i.place)
    if "cc" in m:
        _carry(k, i, m, o)
        return
    floats = kind[0] == "f" or kind.startswith("bf")
    if kind == "b32" or kind == "b64" or kind == "b16":
        kind = kind.replace("b", "u")
    if name == "mad" and floats:
        name = "fma"
    d = k.register(o[0])
    if not floats:
        if "wide" in m:
            wide = f"{kind[0]}{2 * int(kind[1:])}"
            operands = [k.value(o[1], kind), k.value(o[2], kind)] + (
                [k.value(o[3], wide)] if len(o) > 3 else []
            )
            k.alu(f"{name}_wide_{kind}", d, *operands)
            return
        operands = [k.value(operand, kind) for operand in o[1:]]
        if name in ("mul", "mad"):
            name += "_hi" if "hi" in m else "_lo"
        if "sat" in m:
            name += "_sat"
        if "relu" in m:
            name += "_relu"
        k.alu(f"{name}_{kind}", d, *operands)
        return
    operands = [k.value(operand, kind) for operand in o[1:]]
    if "ftz" in m and kind in ("f16", "f16x2"):
        operands = flushed(k, operands, kind)
    if "NaN" in m:
        name += "_nan"
    if "xorsign" in m:
        name += "_xorsign"
    if "relu" in m and name == "fma":
        name += "_relu"
    rounding = next((ROUNDINGS[modifier] for modifier in m if modifier in ("rz", "rm", "rp")), 0)
    if rounding and kind in ("f32", "f64"):
        if "ftz" in m:
            operands = flushed(k, operands, kind)
        k.alu(f"{name}_dir_{kind}", d, *operands, imm=rounding)
        if "ftz" in m:
            k.alu(f"flush_{kind}", d, d)
    elif kind == "f64" and "approx" in m and "ftz" in m:
        k.alu(f"{name}_approx_f64", d, *operands)
    else:
        if name == "div" and "approx" in m:
            name = "div_approx"
        k.alu(f"{name}_ftz_f32" if kind == "f32" and "ftz" in m else f"{name}_{kind}", d, *operands)
    if "ftz" in m and kind in ("f16", "f16x2"):
        k.alu(f"flush_{kind}", d, d)
    if "sat" in m:
        k.alu(f"sat_{kind}", d, d)


def flushed(k: Kernel, operands: list[int], kind: str) -> list[int]:
    """Subnormals become zero."""
    for index, (at, operand) in enumerate(zip(range(k.spare4, k.spare4 + 4), operands, strict=False)):
        k.alu(f"flush_{kind}", at, operand)
        operands[index] = at
    return operands


@handles("addc", "subc", "madc")
def _carry(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    kind = m[-1].replace("s", "u").replace("b", "u")
    takes, gives = i.name.endswith("c") and i.name != "c", "cc" in m
    d, operands = k.register(o[0]), [k.value(operand, kind) for operand in o[1:]]
    if i.name.startswith("mad"):
        k.alu(f"mul_{'hi' if 'hi' in m else 'lo'}_{kind}", k.spare, operands[0], operands[1])
        operands = [k.spare, operands[2]]
    k.alu(
        f"addc_{kind}",
        d,
        operands[0],
        operands[1],
        k.carry if takes else NONE,
        k.carry if gives else NONE,
        imm=1 if i.name.startswith("sub") else 0,
    )


@handles("mul24", "mad24")
def _mul24(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    kind, d, part = m[-1], k.register(o[0]), "hi" if "hi" in m else "lo"
    to = d if i.name == "mul24" else k.spare
    k.alu(f"mul24_{part}_{kind}", to, k.value(o[1], kind), k.value(o[2], kind))
    if i.name == "mad24":
        k.alu(f"add_sat_{kind}" if "sat" in m else f"add_{kind}", d, k.spare, k.value(o[3], kind))


@handles("dp4a", "dp2a")
def _dot(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    kinds = (DOT.A_SIGNED if m[-2][0] == "s" else 0) | (DOT.B_SIGNED if m[-1][0] == "s" else 0)
    kinds |= DOT.UPPER_HALF if "hi" in m else 0
    k.alu(i.name, k.register(o[0]), *[k.value(operand, "b32") for operand in o[1:]], imm=kinds)


@handles("copysign")
def _copysign(k: Kernel, _: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    k.alu(f"copysign_{m[-1]}", k.register(o[0]), k.value(o[1], m[-1]), k.value(o[2], m[-1]))
