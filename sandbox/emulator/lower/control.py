from __future__ import annotations

from ..names import FLAG, HEAP_CALL, NONE, NOP
from ..ptx import Instruction, split_operands
from .kernel import Kernel, handles
from .parameters import param_word, store_param
from .rows import Unsupported


@handles("bra")
def _bra(k: Kernel, _: Instruction, __: tuple[str, ...], o: list[str]) -> None:
    k.jumps.append((k.control("BRANCH"), o[0]))


@handles("brx")
def _brx(k: Kernel, _: Instruction, __: tuple[str, ...], o: list[str]) -> None:
    names = k.frame.function.tables.get(o[1])
    if names is None:
        raise k.malformed(f"names '{o[1]}', which is not a table of labels")
    at = len(k.pool)
    k.pool.extend([0] * (-(-len(names) // 32) * 32))
    k.tables.append((at, names))
    k.control("BRANCH_INDEX", a=k.register(o[0]), b=at, c=len(names))


@handles("ret")
def _ret(k: Kernel, _: Instruction, __: tuple[str, ...], ___: list[str]) -> None:
    if k.frame.function.entry:
        k.control("EXIT")
    else:
        k.ends()


@handles("exit")
def _exit(k: Kernel, _: Instruction, __: tuple[str, ...], ___: list[str]) -> None:
    k.control("EXIT")


@handles("trap")
def _trap(k: Kernel, _: Instruction, __: tuple[str, ...], ___: list[str]) -> None:
    k.control("TRAP")


@handles(
    "brkpt",
    "pmevent",
    "applypriority",
    "discard",
    "setmaxnreg",
    "griddepcontrol",
)
def _nothing(k: Kernel, _: Instruction, __: tuple[str, ...], ___: list[str]) -> None:
    k.control("NOP")


@handles("nanosleep")
def _nanosleep(k: Kernel, _: Instruction, __: tuple[str, ...], ___: list[str]) -> None:
    k.control("NOP", size=NOP.SLEEPS)


@handles("call")
def _call(k: Kernel, i: Instruction, _: tuple[str, ...], o: list[str]) -> None:
    returned: list[str] = []
    if o[0].startswith("("):
        returned, o = split_operands(o[0][1:-1]), o[1:]
    target = o[0]
    given = split_operands(o[1][1:-1]) if len(o) > 1 and o[1].startswith("(") else []
    if target in ("vprintf", "__assertfail"):
        a, b = k.print_units
        for unit, name in ((a, given[0]), (b, given[1])):
            param_word(k, "b64", unit, name, 0)
        k.control(
            "PRINT" if target == "vprintf" else "ASSERT",
            a=a,
            b=b,
            d=k.words_of(returned[0]) if returned else NONE,
        )
        return
    if target in ("malloc", "free"):
        k.allocates = True
        a = k.print_units[0]
        param_word(k, "b64", a, given[0], 0)
        k.control("HEAP", d=a, a=a, imm=HEAP_CALL[target])
        if returned:
            store_param(k, "b64", a, returned[0], 0)
        return
    for names in (given, returned):
        for name in names:
            k.words_of(name)
        if sum(-(-k.frame.word_bytes[name] // 4) for name in names) > k.abi_words:
            raise Unsupported(i.opcode, i.place, "more arguments than it declares")
    at = k.abi_params
    for name in given:
        for word in range(-(-k.frame.word_bytes[name] // 4)):
            k.alu("mov_b32", at, k.words_of(name) + word)
            at += 1
    frame = k.frame
    if target in k.frames:
        callee = k.frames[target]
        recursive = FLAG.RECURSIVE if callee.recursive else 0
        row = k.control(
            "CALL", d=k.abi_back, a=callee.start, b=callee.units, c=frame.local_bytes, flags=recursive
        )
        k.function_rows.append((row, target))
    elif target in frame.registers:
        k.control(
            "CALL_INDIRECT",
            d=k.abi_back,
            a=k.table(),
            b=len(k.module.functions),
            c=frame.local_bytes,
            e=k.register(target),
        )
    else:
        raise Unsupported(f"call {target}", i.place)
    k.control("POP", c=frame.local_bytes)
    k.add_flag(len(k.rows) - 1, FLAG.JOIN)
    at = k.abi_returns
    for name in returned:
        for word in range(-(-k.frame.word_bytes[name] // 4)):
            k.alu("mov_b32", k.words_of(name) + word, at)
            at += 1
