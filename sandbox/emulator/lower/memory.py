from __future__ import annotations

from ..names import ATOMIC, ATOMIC_TYPE, CONSTANT, EVERY, FLAG, NONE, NOP, SPACE
from ..ptx import SIZES, Instruction, number, split_operands
from .kernel import Kernel, handles, space_of
from .parameters import param_word, store_param
from .rows import Unsupported, layout

ATOMIC_TYPES = {
    **{name.lower(): ATOMIC_TYPE[name] for name in ATOMIC_TYPE},
    **{"b16": ATOMIC_TYPE.U16, "b32": ATOMIC_TYPE.U32, "b64": ATOMIC_TYPE.U64},
}


_SEEN_BY_OTHERS = (SPACE.GLOBAL, SPACE.GENERIC)


@handles("ld", "ldu")
def _ld(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    kind = m[-1]
    outs = split_operands(o[0][1:-1]) if o[0].startswith("{") else [o[0]]
    if any(modifier.startswith("param") for modifier in m) and _load_param(k, i, kind, outs, o[1]):
        return
    space = SPACE.GENERIC if any(modifier.startswith("param") for modifier in m) else space_of(m)
    base, offset, wide = k.memory(o[1], space)
    strong = {"volatile", "relaxed", "acquire"} & set(m) or o[1] in k.compared(k.frame.function)
    flags = FLAG.STRONG if strong and space != SPACE.LOCAL else 0
    k.coordinates |= bool(strong) and space in _SEEN_BY_OTHERS
    flags |= FLAG.SIGNED if kind[0] == "s" else 0
    if k.width(outs[0]) == 8:
        wide |= 1
    if len(outs) > (2 if SIZES[kind] == 8 else 1 if SIZES[kind] == 16 else 4):
        raise Unsupported(i.opcode, i.place)
    units = k.halves(outs[0]) if kind == "b128" else [k.sink(operand) for operand in outs]
    count = len(units)
    units += [NONE] * (4 - count)
    k.control(
        "LOAD",
        d=units[0],
        a=base,
        b=units[1],
        c=units[2],
        e=units[3],
        imm=offset,
        size=min(SIZES[kind], 8),
        count=count,
        space=space,
        wide=wide,
        flags=flags,
        spare=k.array_of(o[1]),
    )


def _load_param(k: Kernel, i: Instruction, kind: str, outs: list[str], where: str) -> bool:
    """False if read through an address."""
    name, _, offset_text = where[1:-1].partition("+")
    offset, name = int(offset_text or 0), name.strip()
    size = SIZES[kind]
    if name in k.frame.words:
        for index, out in enumerate(outs):
            wider = k.width(out) == 8 and size < 8
            if out != "_":
                param_word(k, kind, k.spare if wider else k.register(out), name, offset + index * size)
            if wider:
                k.alu(f"ext64_{kind.replace('b', 'u') if kind != 'f32' else 'u32'}", k.register(out), k.spare)
        return True
    for variable, (at, _) in zip(k.function.params, layout(k.function.params), strict=True):
        if variable.name == name and k.frame.function.entry:
            for index, out in enumerate(outs):
                if out == "_":
                    continue
                key = (at + offset + index * size, size)
                if key not in k.params:
                    k.params[key] = k.fresh(8 if size == 8 else 4)
                source, d = k.params[key] | CONSTANT, k.register(out)
                if k.width(out) == 8 and size < 8:
                    k.alu(f"ext64_{kind.replace('b', 'u')}", d, source)
                elif kind in ("s8", "s16"):
                    k.alu(f"ext32_{kind}", d, source)
                else:
                    k.alu("mov_b64" if size == 8 else "mov_b32", d, source)
            return True
    return False


@handles("st")
def _st(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    kind = m[-1]
    ins = split_operands(o[1][1:-1]) if o[1].startswith("{") else [o[1]]
    if any(modifier.startswith("param") for modifier in m):
        name, _, offset = o[0][1:-1].partition("+")
        for index, item in enumerate(ins):
            value = k.value(item, kind)
            if k.width(item) == 8 and SIZES[kind] < 8:
                k.alu("cut32_u32", k.spare, value)
                value = k.spare
            store_param(
                k,
                kind,
                value,
                name.strip(),
                int(offset or 0) + index * SIZES[kind],
            )
        return
    space = space_of(m)
    base, at, wide = k.memory(o[0], space)
    flags = FLAG.STRONG if {"volatile", "relaxed", "release"} & set(m) and space != SPACE.LOCAL else 0
    flags |= FLAG.RELEASES if "release" in m else 0
    if k.width(ins[0]) == 8 and ins[0] in k.frame.registers:
        wide |= 1
    if len(ins) > (2 if SIZES[kind] == 8 else 1 if SIZES[kind] == 16 else 4):
        raise Unsupported(i.opcode, i.place)
    if space != SPACE.LOCAL:
        k.granule = min(k.granule, SIZES[kind])
    units = k.halves(ins[0]) if kind == "b128" else [k.value(operand, kind) for operand in ins]
    count = len(units)
    units += [NONE] * (4 - count)
    k.control(
        "STORE",
        d=units[0],
        a=base,
        b=units[1],
        c=units[2],
        e=units[3],
        imm=at,
        size=min(SIZES[kind], 8),
        count=count,
        space=space,
        wide=wide,
        flags=flags,
        spare=k.array_of(o[0]),
    )


@handles("atom", "red")
def _atom(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    kind = next((modifier for modifier in m if modifier in ATOMIC_TYPES), "")
    o = o[:-1] if "L2::cache_hint" in m else o
    how = next((modifier for modifier in m if modifier in ATOMIC), None)
    if how is None or not kind:
        raise Unsupported(i.opcode, i.place)
    d, rest = (o[0], o[1:]) if i.name == "atom" else ("", o)
    count = next((int(modifier[1]) for modifier in m if modifier in ("v2", "v4", "v8")), 1)
    space = space_of(m) if count == 1 else SPACE.GLOBAL
    base, at, wide = k.memory(rest[0], space)
    if count > 1:
        values, spare = [NONE, NONE], _atomic_vector(k, i, kind, count, d, rest[1])
        if how not in ("add", "min", "max") or space_of(m) not in (SPACE.GENERIC, SPACE.GLOBAL):
            raise Unsupported(i.opcode, i.place)
    else:
        values, spare = [k.value(operand, kind) for operand in rest[1:]] + [NONE], k.array_of(rest[0])
    k.granule = min(k.granule, SIZES[kind])
    floats = "f" in kind
    flags = FLAG.RETRIED if floats else 0
    if how == "add" and SIZES[kind] == 4 and not floats and k.is_unused(d) and values[0] & CONSTANT:
        flags |= FLAG.COUNTS_UP
    k.coordinates |= space in _SEEN_BY_OTHERS and not k.is_unused(d)
    k.control(
        "ATOMIC",
        d=k.sink(d) if count == 1 else NONE,
        a=base,
        b=values[0],
        c=values[1],
        e=ATOMIC[how] | ATOMIC_TYPES[kind] << 8,
        imm=at,
        size=SIZES[kind],
        count=count,
        space=space,
        wide=wide,
        flags=flags,
        spare=spare,
    )


# At most 16 bytes, or 8 elements.
_ATOMIC_VECTORS = {"f32": 4, "f16": 8, "bf16": 8, "f16x2": 4, "bf16x2": 4}


def _atomic_vector(k: Kernel, i: Instruction, kind: str, count: int, d: str, values: str) -> int:
    """Units of values and old values. Returns the word."""
    given = [k.value(operand, kind) for operand in split_operands(values[1:-1])]
    before = [k.sink(operand) for operand in split_operands(d[1:-1])] if d.startswith("{") else [NONE] * count
    if len(given) != count or len(before) != count or count > _ATOMIC_VECTORS.get(kind, 0):
        raise Unsupported(i.opcode, i.place)
    return k.describe(given + before)


@handles("prefetch", "prefetchu")
def _prefetch(k: Kernel, _: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    """Into L2, whatever the level."""
    if space_of(m) not in (SPACE.GENERIC, SPACE.GLOBAL) or "tensormap" in m:
        k.control("NOP")
        return
    base, at, wide = k.memory(o[0], SPACE.GLOBAL)
    k.control("NOP", size=NOP.PREFETCHES, a=base, imm=at, wide=wide)


@handles("createpolicy")
def _createpolicy(k: Kernel, _: Instruction, __: tuple[str, ...], o: list[str]) -> None:
    k.alu("mov_b64", k.register(o[0]), k.constant(0, 8))


@handles("cp")
def _cp(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    if m[:2] == ("async", "commit_group"):
        k.control("COMMIT")
    elif m[:2] == ("async", "wait_group"):
        k.control("WAIT_GROUP", imm=number(o[0]) or 0)
    elif m[:2] == ("async", "wait_all"):
        k.control("WAIT_GROUP")
    elif m[0] == "async" and m[1] in ("ca", "cg") and "mbarrier" not in m:
        to, to_at, to_wide = k.memory(o[0], SPACE.SHARED)
        source, source_at, source_wide = k.memory(o[1], SPACE.GLOBAL)
        size = number(o[2])
        if size not in (4, 8, 16):
            raise Unsupported(i.opcode, i.place, f"a copy of {o[2]} bytes")
        bytes_of = NONE
        o = o[:-1] if "L2::cache_hint" in m else o
        if len(o) > 3 and k.frame.function.registers.get(o[3].lstrip("!")) == "pred":
            k.alu("selp_b32", k.spare, k.constant(0, 4), k.constant(size, 4), k.value(o[3], "pred"))
            bytes_of = k.spare
        elif len(o) > 3:
            bytes_of = k.value(o[3], "b32")
        k.granule = min(k.granule, 4)
        k.control(
            "COPY_LATE",
            a=to,
            b=source,
            c=bytes_of,
            e=source_at & EVERY,
            imm=to_at,
            size=size,
            space=SPACE.SHARED,
            wide=to_wide | (4 if source_wide else 0),
        )
    else:
        raise Unsupported(i.opcode, i.place)
