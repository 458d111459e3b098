from __future__ import annotations

from ..names import BARRIER, FLAG, MATCH, NONE, REDUX, SHUFFLE, VOTE
from ..ptx import SIZES, Instruction
from .kernel import Kernel, handles
from .rows import Unsupported


@handles("bar", "barrier")
def _bar(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    if m[0] == "warp":
        k.control("WARP_BARRIER", a=k.value(o[0], "b32"))
        return
    alone = next((how for how in ("sync", "arrive") if how in m), None)
    if alone:
        limit = k.value(o[1], "b32") if len(o) > 1 else NONE
        k.control("BARRIER", a=k.value(o[0], "b32"), b=limit, imm=BARRIER[alone])
        return
    limit = k.value(o[2], "b32") if len(o) > 3 else NONE
    k.control(
        "BARRIER",
        d=k.register(o[0]),
        a=k.value(o[1], "b32"),
        b=limit,
        c=k.register(o[-1].lstrip("!")),
        imm=BARRIER.first_in(m),
        wide=0x4000 if o[-1][0] == "!" else 0,
    )


@handles("membar", "fence")
def _fence(k: Kernel, _: Instruction, m: tuple[str, ...], ___: list[str]) -> None:
    k.control("NOP" if "proxy" in m or "cta" in m else "FENCE")


@handles("shfl")
def _shfl(k: Kernel, __: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    d, _, inside = o[0].partition("|")
    k.control(
        "SHUFFLE",
        d=k.register(d),
        a=k.value(o[1], "b32"),
        b=k.value(o[2], "b32"),
        c=k.value(o[3], "b32"),
        e=k.register(inside) if inside else NONE,
        size=SHUFFLE.first_in(m),
        spare=k.value(o[4], "b32") if "sync" in m else NONE,
    )


@handles("vote")
def _vote(k: Kernel, _: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    k.control(
        "VOTE",
        d=k.register(o[0]),
        a=k.value(o[1].lstrip("!"), "pred"),
        size=VOTE.first_in(m),
        flags=FLAG.SIGNED if o[1][0] == "!" else 0,
        spare=k.value(o[2], "b32") if "sync" in m else NONE,
    )


@handles("match")
def _match(k: Kernel, __: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    d, _, inside = o[0].partition("|")
    k.control(
        "MATCH",
        d=k.register(d),
        a=k.value(o[1], m[-1]),
        size=MATCH.ALL if "all" in m else MATCH.ANY,
        count=SIZES[m[-1]],
        e=k.register(inside) if inside else NONE,
        spare=k.value(o[2], "b32"),
    )


@handles("redux")
def _redux(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    if m[-1] == "f32":
        raise Unsupported(i.opcode, i.place)
    k.control(
        "REDUX",
        d=k.register(o[0]),
        a=k.value(o[1], "b32"),
        size=REDUX.first_in(m),
        flags=FLAG.SIGNED if m[-1] == "s32" else 0,
        spare=k.value(o[2], "b32"),
    )


@handles("activemask")
def _activemask(k: Kernel, _: Instruction, __: tuple[str, ...], o: list[str]) -> None:
    k.control("ACTIVE_MASK", d=k.register(o[0]))


@handles("elect")
def _elect(k: Kernel, __: Instruction, ___: tuple[str, ...], o: list[str]) -> None:
    d, _, inside = o[0].partition("|")
    k.control("ELECT", d=k.sink(d), e=k.register(inside))
