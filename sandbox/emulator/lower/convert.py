from __future__ import annotations

from ..names import CONVERSION, LOCAL_BASE, SHARED_BASE, SPACE
from ..ptx import SIZES, Instruction, split_operands
from .arithmetic import ROUNDINGS, flushed
from .kernel import Kernel, bits_of, handles
from .rows import Unsupported


@handles("mov")
def _mov(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    kind = m[-1]
    if kind == "pred":
        k.alu("mov_pred", k.register(o[0]), k.value(o[1], "pred"))
    elif kind == "b128":  # adjacent, 64 bits each
        for at, half in zip(k.halves(o[0]), k.halves(o[1]), strict=True):
            k.alu("mov_b64", at, half)
    elif o[1].startswith("{"):
        parts = split_operands(o[1][1:-1])
        names = {
            (8, 2): "join_64",
            (4, 2): "join_32",
            (8, 4): "join_64_of_16",
            (4, 4): "join_32_of_8",
            (2, 2): "join_16_of_8",
        }
        name = names.get((SIZES[kind], len(parts)))
        if name is None:
            raise Unsupported(i.opcode, i.place)
        k.alu(name, k.register(o[0]), *[k.value(part, "b32") for part in parts])
    elif o[0].startswith("{"):
        parts = split_operands(o[0][1:-1])
        bits = 8 * SIZES[kind] // len(parts)
        source = k.value(o[1], kind)
        if source in [k.frame.registers.get(part) for part in parts]:
            k.alu(f"mov_{bits_of(kind)}", k.spare, source)
            source = k.spare
        for index, part in enumerate(parts):
            if part != "_":
                k.alu(f"piece_{bits}_of_{8 * SIZES[kind]}", k.register(part), source, imm=index)
    else:
        source, d = k.value(o[1], kind), k.register(o[0])
        k.alu(f"mov_{bits_of(kind)}", d, source)


@handles("cvta")
def _cvta(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    space = next(modifier for modifier in m if modifier not in ("to", "u64", "u32"))
    base = {"shared": SHARED_BASE, "local": LOCAL_BASE}.get(space.partition("::")[0], 0)
    d, kind = k.register(o[0]), m[-1]
    source = k.value(o[1], kind)
    if base:
        k.alu("add_u64" if "to" not in m else "sub_u64", d, source, k.constant(base, 8))
    else:
        k.alu("mov_b64", d, source)


@handles("isspacep")
def _isspacep(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    which = {"global": SPACE.GLOBAL, "shared": SPACE.SHARED, "local": SPACE.LOCAL}.get(
        m[0].partition("::")[0]
    )
    if which is None:
        k.alu("mov_pred", k.register(o[0]), k.constant(0, 4))
    else:
        k.alu("isspacep", k.register(o[0]), k.value(o[1], "b64"), k.constant(which, 4))


def _is_float(kind: str) -> bool:
    return kind in ("f16", "bf16", "f32", "f64", "tf32")


@handles("cvt")
def _cvt(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    if m[0] == "pack":
        _cvt_pack(k, m, o)
        return
    to, source_kind = m[-2], m[-1]
    d, rounding = k.register(o[0]), next((modifier for modifier in m if modifier in ROUNDINGS), "")
    if (
        to in ("f16", "bf16", "tf32", "f16x2", "bf16x2")
        and to != source_kind
        and "x2" not in source_kind
        and (rounding in ("rz", "rm", "rp") or "satfinite" in m or "relu" in m or to == "tf32")
    ):
        how = ROUNDINGS.get(rounding, 0) | (CONVERSION.FINITE if "satfinite" in m else 0)
        how |= (CONVERSION.NOT_NEGATIVE if "relu" in m else 0) | (CONVERSION.TIES_AWAY if "rna" in m else 0)
        operands = [k.value(operand, source_kind) for operand in o[1:]]
        if "ftz" in m and source_kind == "f32":
            operands = flushed(k, operands, "f32")
        k.alu(f"cvt_by_{to}_{source_kind}", d, *operands, imm=how)
        if "sat" in m:
            k.alu(f"sat_{to}", d, d)
        return
    if len(o) == 3:  # two floats into one register
        relu = "relu_" if "relu" in m else ""
        k.alu(f"cvt_{relu}{to}_{source_kind}", d, k.value(o[1], "f32"), k.value(o[2], "f32"))
        return
    source = k.value(o[1], source_kind)
    if (
        k.width(o[1]) == 8 and SIZES[source_kind] < 8 and (_is_float(to) or "sat" in m)
    ):  # the lower part of a wider register
        k.alu(f"cut32_{source_kind.replace('b', 'u')}", k.spare, source)
        source = k.spare
    if "x2" in to or "x2" in source_kind:
        if "relu" in m and to[0] == "e":
            k.alu(f"relu_{source_kind}", k.spare, source)
            source = k.spare
        k.alu(f"cvt_{to}_{source_kind}", d, source)
        if "relu" in m and to[0] != "e":
            k.alu(f"relu_{to}", d, d)
        return
    if "ftz" in m and source_kind == "f32":
        k.alu("flush_f32", k.spare, source)
        source = k.spare
    if _is_float(to) and _is_float(source_kind):
        if to == source_kind:
            step = rounding if rounding in ("rni", "rzi", "rmi", "rpi") else ""
            k.alu(f"{step}_{to}" if step else f"mov_{bits_of(to)}", d, source)
        elif rounding in ("rz", "rm", "rp") and (to, source_kind) == ("f32", "f64"):
            k.alu("cvt_dir_f32_f64", d, source, imm=ROUNDINGS[rounding])
        else:
            k.alu(f"cvt_{to}_{source_kind}", d, source)
        if "ftz" in m and to == "f32":
            k.alu("flush_f32", d, d)
        if "sat" in m:
            k.alu(f"sat_{to}", d, d)
    elif _is_float(source_kind):
        k.alu(f"cvt_{to}_{source_kind}", d, source, imm=ROUNDINGS[rounding or "rzi"])
        if k.width(o[0]) == 8 and SIZES[to] < 8:
            k.alu(f"ext64_{to}", d, d)
    elif _is_float(to):
        name = f"cvt_dir_{to}_{source_kind}"
        if rounding in ("rz", "rm", "rp") and name in k.operations:
            k.alu(name, d, source, imm=ROUNDINGS[rounding])
        else:  # there is nothing to round
            k.alu(f"cvt_{to}_{source_kind}", d, source)
        if "sat" in m:
            k.alu(f"sat_{to}", d, d)
    else:
        _cvt_int(k, i, m, d, source, o)


def _cvt_pack(k: Kernel, m: tuple[str, ...], o: list[str]) -> None:
    kind = m[2]
    a, b = k.spare, k.spare + 1
    k.alu(f"cvt_pack_{kind}", a, k.value(o[1], "s32"))
    k.alu(f"cvt_pack_{kind}", b, k.value(o[2], "s32"))
    rest = k.value(o[3], "b32") if len(o) > 3 else k.constant(0, 4)
    k.alu("cvt_pack", k.register(o[0]), a, b, rest, imm=int(kind[1:]))


def _cvt_int(k: Kernel, i: Instruction, m: tuple[str, ...], d: int, source: int, o: list[str]) -> None:
    to, kind = m[-2].replace("b", "u"), m[-1].replace("b", "u")
    if "sat" in m:
        low = 0 if to[0] == "u" else -(1 << (8 * SIZES[to] - 1))
        high = (1 << (8 * SIZES[to] - (to[0] == "s"))) - 1
        wide = f"{kind[0]}{max(32, 8 * SIZES[kind])}"
        if SIZES[kind] < 4:
            k.alu(f"ext32_{kind}", k.spare, source)
            source = k.spare
        size = SIZES[wide]
        least, most = (
            (-(1 << 8 * size - 1), (1 << 8 * size - 1) - 1) if kind[0] == "s" else (0, (1 << 8 * size) - 1)
        )
        if low > least:
            k.alu(f"max_{wide}", k.spare, source, k.constant(low, size))
            source = k.spare
        if high < most:
            k.alu(f"min_{wide}", k.spare, source, k.constant(high, size))
            source = k.spare
        if SIZES[to] == 8:
            k.alu("mov_b64" if size == 8 else f"ext64_{wide}", d, source)
        elif k.width(o[0]) == 8:
            if size == 8:
                k.alu("cut32_u32", k.spare, source)
                source = k.spare
            k.alu(f"ext64_{to}", d, source)
        else:
            k.alu("cut32_u32" if size == 8 else "mov_b32", d, source)
        return
    wide_d, wide_s = k.width(o[0]) == 8, k.width(o[1]) == 8 or SIZES[kind] == 8
    # The narrower type's bits are kept, extended by the source's sign.
    narrow = kind if SIZES[kind] <= SIZES[to] else to
    if SIZES[narrow] == 8:
        k.alu("mov_b64", d, source)
    elif wide_d and wide_s:
        k.alu(f"cut32_{narrow}", k.spare, source)
        k.alu(f"ext64_{narrow}", d, k.spare)
    elif wide_d:
        k.alu(f"ext64_{narrow}", d, source)
    elif wide_s:
        k.alu(f"cut32_{narrow}", d, source)
    else:
        k.alu(f"ext32_{narrow}", d, source)
