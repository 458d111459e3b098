"""mbarriers, clusters and proxy fences of sm_80 to sm_90.

Rows of ASYNC, whose size says which. Other families handle the rest of ``fence``, ``cp``, ``ld``.
"""

from __future__ import annotations

from ..names import ARRIVAL, COPY, FLAG, NONE, SPACE
from ..ptx import SIZES, Instruction
from . import memory, warps  # noqa: F401  their handlers are extended here
from .asynchronous import asynchronous, wide_register
from .bulk import bulk
from .kernel import Handler, Kernel, extends, handles, space_of
from .rows import Unsupported

_REGISTER_TYPE = {4: "b32", 8: "b64"}


def _scope(m: tuple[str, ...]) -> tuple[int, int]:
    """An address may be another block's."""
    return space_of(m), FLAG.CLUSTER if "shared::cluster" in m else 0


@handles("mbarrier")
def _mbarrier(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    how = m[0]
    if m[-1] != "b64" and how not in ("expect_tx", "complete_tx"):
        raise Unsupported(i.opcode, i.place)
    if how == "pending_count":
        state = wide_register(k, o[1])
        k.alu("and_b64", k.spare, state, k.constant(0xFFFFF, 8))
        k.alu("cut32_u32", k.register(o[0]), k.spare)
        return
    space, flags = _scope(m)
    if space not in (SPACE.SHARED, SPACE.GENERIC):
        raise Unsupported(i.opcode, i.place)
    count = (ARRIVAL.PARITY if "parity" in m else 0) | (ARRIVAL.NO_COMPLETE if "noComplete" in m else 0)
    count |= (ARRIVAL.RELAXED if "relaxed" in m else 0) | (ARRIVAL.EXPECTS if "expect_tx" in m else 0)
    k.granule = min(k.granule, 4)
    if how in ("init", "inval"):
        base, at, wide = k.memory(o[0], space)
        fields = {"b": k.value(o[1], "b32")} if how == "init" else {}
        asynchronous(
            k, f"MBARRIER_{how.upper()}", a=base, imm=at, wide=wide, space=space, flags=flags, **fields
        )
    elif how in ("arrive", "arrive_drop"):
        kind = "MBARRIER_ARRIVE" if how == "arrive" else "MBARRIER_DROP"
        # The state is optional; another block's mbarrier has none.
        state, rest = (
            (NONE, o) if o[0].startswith("[") else (NONE if o[0] == "_" else wide_register(k, o[0]), o[1:])
        )
        base, at, wide = k.memory(rest[0], space)
        value = k.value(rest[1], "b32") if len(rest) > 1 else NONE
        fields = {"c": value} if count & ARRIVAL.EXPECTS else {"b": value}
        if count & ARRIVAL.EXPECTS and value == NONE:
            raise Unsupported(i.opcode, i.place)
        asynchronous(
            k, kind, d=state, a=base, imm=at, wide=wide, space=space, flags=flags, count=count, **fields
        )
    elif how in ("expect_tx", "complete_tx"):
        base, at, wide = k.memory(o[0], space)
        kind = "MBARRIER_EXPECT" if how == "expect_tx" else "MBARRIER_COMPLETE"
        asynchronous(
            k, kind, a=base, imm=at, wide=wide, space=space, flags=flags, count=0, c=k.value(o[1], "b32")
        )
    elif how in ("test_wait", "try_wait"):
        predicate = k.register(o[0])
        base, at, wide = k.memory(o[1], space)
        state = k.value(o[2], "b32") if count & ARRIVAL.PARITY else wide_register(k, o[2])
        kind = "MBARRIER_TEST" if how == "test_wait" else "MBARRIER_TRY"
        asynchronous(
            k, kind, d=predicate, a=base, b=state, imm=at, wide=wide, space=space, flags=flags, count=count
        )
    else:
        raise Unsupported(i.opcode, i.place)


@handles("mapa")
def _mapa(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    kind, space = m[-1], SPACE.SHARED if "shared::cluster" in m else SPACE.GENERIC
    wide = 3 if SIZES[kind] == 8 else 0
    if (
        k.width(o[0]) != SIZES[kind]
        or SIZES[kind] not in _REGISTER_TYPE
        or (space == SPACE.GENERIC and not wide)
    ):
        raise Unsupported(i.opcode, i.place)
    address = k.value(o[1], kind)
    asynchronous(k, "MAP_RANK", d=k.register(o[0]), a=address, b=k.value(o[2], "b32"), wide=wide, space=space)


@handles("getctarank")
def _getctarank(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    kind, space = m[-1], SPACE.SHARED if "shared::cluster" in m else SPACE.GENERIC
    if k.width(o[0]) != 4 or SIZES[kind] not in _REGISTER_TYPE:
        raise Unsupported(i.opcode, i.place)
    wide = 2 if SIZES[kind] == 8 else 0
    asynchronous(k, "RANK_OF", d=k.register(o[0]), a=k.value(o[1], kind), wide=wide, space=space)


@extends("bar", "barrier")
def _barrier(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str], known: Handler) -> None:
    if "cluster" not in m:
        known(k, i, m, o)
    elif "arrive" in m:
        asynchronous(k, "CLUSTER_ARRIVE", count=ARRIVAL.RELAXED if "relaxed" in m else 0)
    elif "wait" in m:
        asynchronous(k, "CLUSTER_WAIT", count=0)
    else:
        raise Unsupported(i.opcode, i.place)


@extends("fence")
def _fence(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str], known: Handler) -> None:
    if "proxy" in m and any(modifier.startswith("async") for modifier in m):
        asynchronous(k, "PROXY_FENCE")
    elif "mbarrier_init" in m:
        k.control("NOP")
    else:
        known(k, i, m, o)


@extends("ld", "st", "atom", "red")
def _access(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str], known: Handler) -> None:
    """shared::cluster reaches all of a cluster's blocks."""
    first = len(k.rows)
    known(k, i, m, o)
    if "shared::cluster" in m:
        for index in range(first, len(k.rows)):
            k.add_flag(index, FLAG.CLUSTER)


@extends("cp")
def _copy(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str], known: Handler) -> None:
    if "bulk" in m[:3]:
        bulk(k, i, m, o)
    elif m[:3] == ("async", "mbarrier", "arrive"):
        base, at, wide = k.memory(o[0], SPACE.SHARED)
        count = COPY.COUNTED_BEFORE if "noinc" in m else COPY.COUNTED_NOW
        asynchronous(k, "COPIES_ARRIVE", a=base, imm=at, wide=wide, space=SPACE.SHARED, count=count)
    else:
        known(k, i, m, o)
