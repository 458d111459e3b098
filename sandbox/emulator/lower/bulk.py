from __future__ import annotations

from ..names import ATOMIC, BULK_WAY, EVERY, FLAG, NONE, NOP, SPACE
from ..ptx import Instruction, number, split_operands
from .asynchronous import asynchronous
from .kernel import Kernel, handles, space_of
from .memory import ATOMIC_TYPES
from .rows import Unsupported


def bulk(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    refused = Unsupported(i.opcode, i.place)
    if "commit_group" in m:
        asynchronous(k, "BULK_COMMIT")
        return
    if "wait_group" in m:
        left = number(o[0])
        if left is None or not 0 <= left <= EVERY:
            raise refused
        asynchronous(k, "BULK_WAIT_READ" if "read" in m else "BULK_WAIT", imm=left)
        return
    if "prefetch" in m:
        if "tensor" in m:  # the copy itself pays for the fetch
            k.control("NOP")
            return
        base, at, wide = k.memory(o[0], SPACE.GLOBAL)
        k.control("NOP", size=NOP.PREFETCHES_BULK, a=base, b=k.value(o[1], "b32"), imm=at, wide=wide)
        return
    if any(modifier.startswith(("im2col", "tile::", "cta_group")) for modifier in m) or "cp_mask" in m:
        raise refused
    tensor = "tensor" in m
    rank = next(
        (
            int(modifier[0])
            for modifier in m
            if len(modifier) == 2 and modifier[1] == "d" and modifier[0] in "12345"
        ),
        0,
    )
    spaces = [modifier for modifier in m if modifier.partition("::")[0] in ("shared", "global")]
    outwards = spaces[0] == "global"
    into_cluster = len(spaces) > 1 and spaces[1].startswith("shared") and not outwards
    if tensor != (rank > 0) or len(spaces) != 2 or (outwards and not spaces[1].startswith("shared")):
        raise refused
    if outwards == ("bulk_group" not in m) or outwards == ("mbarrier::complete_tx::bytes" in m):
        raise refused
    how = 0
    if m[0] == "reduce":
        named = next(modifier for modifier in m if modifier in ATOMIC)
        kind = m[-1] if not tensor else "u32"
        if kind not in ATOMIC_TYPES or named in ("exch", "cas"):
            raise refused
        how = 1 + (ATOMIC[named] | ATOMIC_TYPES[kind] << 8)
    nothing = [NONE, 0, 0]
    coordinates: list[list[int]] = []
    described, plain = (o[0], o[1]) if outwards else (o[1], o[0])
    if tensor:
        parts = split_operands(described[1:-1])
        names = split_operands(parts[1][1:-1])
        if len(parts) != 2 or len(names) != rank:
            raise refused
        coordinates = [[k.value(operand, "b32"), 0, 0] for operand in names]
        tensor_map = _address(k, f"[{parts[0]}]", SPACE.GENERIC)
        to, source = (
            (tensor_map, _address(k, plain, SPACE.SHARED))
            if outwards
            else (_address(k, plain, SPACE.SHARED), tensor_map)
        )
        size, rest = nothing, o[2:]
    else:
        to = _address(k, o[0], SPACE.GENERIC if outwards else SPACE.SHARED)
        source = _address(k, o[1], SPACE.SHARED if outwards or into_cluster else SPACE.GENERIC)
        size, rest = [k.value(o[2], "b32"), 0, 0], o[3:]
    barrier = nothing
    if not outwards:
        barrier, rest = _address(k, rest[0], SPACE.SHARED), rest[1:]
    multicast = "multicast::cluster" in m
    ranks = [k.value(rest[0], "b16"), 0, 0] if multicast else nothing
    way = (
        BULK_WAY.SHARED_TO_GLOBAL
        if outwards
        else BULK_WAY.SHARED_TO_SHARED
        if into_cluster
        else BULK_WAY.GLOBAL_TO_SHARED
    )
    words = [way, rank, int(multicast), how, *to, *source, *barrier, *size, *ranks]
    for coordinate in coordinates + [nothing] * (5 - rank):
        words += coordinate
    at = len(k.pool)
    k.pool.extend(words + [0] * (-len(words) % 32))
    k.granule = min(k.granule, 4)
    asynchronous(k, "BULK_COPY", imm=at, space=SPACE.SHARED, flags=FLAG.CLUSTER)


def _address(k: Kernel, text: str, space: int) -> list[int]:
    """Unit, width flag, offset."""
    base, at, wide = k.memory(text, space)
    if base == NONE and not 0 <= at < 1 << 31:
        base, at, wide = k.constant(at, 8), 0, 2
    if not -(1 << 31) <= at < 1 << 31:
        raise ValueError(f"the offset {at}")
    return [base, int(wide != 0), at & EVERY]


# struct tensor_map of engine/bulk.c: offset, and bytes per element.
_MAP_SIGNATURE, _MAP_BYTES = 0x70616D726F736E74, 128


_MAP_FIELDS = {
    "global_address": (8, 8),
    "global_stride": (16, 8),
    "global_dim": (48, 4),
    "box_dim": (68, 2),
    "element_stride": (78, 1),
    "elemtype": (83, 1),
    "rank": (84, 1),
    "swizzle_mode": (85, 1),
    "fill_mode": (86, 1),
}


# PTX and CUtensorMapDataType number these differently.
_MAP_TYPES = {8: 10, 9: 8, 10: 9}


def _access(
    k: Kernel, what: str, unit: int, where: tuple[int, int, int], text: str, space: int, size: int
) -> None:
    """Load or store ``unit``. ``where``: from ``Kernel.memory``."""
    base, at, wide = where
    fields = {"d": unit, "a": base, "b": NONE, "c": NONE, "e": NONE, "imm": at, "spare": k.array_of(text)}
    k.control(what, **fields, size=size, count=1, space=space, wide=wide | int(size == 8))


@handles("tensormap")
def _tensormap(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    if m[0] == "cp_fenceproxy":
        _copy_map(k, i, m, o)
        return
    refused = Unsupported(i.opcode, i.place)
    if m[:2] != ("replace", "tile"):
        raise refused
    field, space, literal = m[2], space_of(m), number(o[-1])
    if field == "interleave_layout" and literal == 0:
        return
    if field not in _MAP_FIELDS or space not in (SPACE.SHARED, SPACE.GENERIC, SPACE.GLOBAL):
        raise refused
    offset, size = _MAP_FIELDS[field]
    if len(o) == 3:
        dimension = number(o[1])
        if dimension is None or not 0 <= dimension < (4 if field == "global_stride" else 5):
            raise refused
        offset += size * dimension
    if field == "elemtype":
        if literal is None:
            raise refused
        value = k.constant(_MAP_TYPES.get(literal, literal), 4)
    elif field == "global_dim":
        value = k.spare
        k.alu("sub_u32", value, k.value(o[-1], "b32"), k.constant(1, 4))
    else:
        value = k.value(o[-1], "b64" if size == 8 else "b32")
    base, at, wide = k.memory(o[0], space)
    k.granule = min(k.granule, size)
    _access(k, "STORE", value, (base, at + offset, wide), o[0], space, size)
    # A map may be made without the host.
    _access(k, "STORE", k.constant(_MAP_SIGNATURE, 8), (base, at, wide), o[0], space, 8)


def _copy_map(k: Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    """4 bytes a lane."""
    if number(o[2]) != _MAP_BYTES:
        raise Unsupported(i.opcode, i.place)
    address, ahead = k.spare4, k.spare4 + 2
    k.granule = min(k.granule, 4)
    for what, text, space in (("LOAD", o[1], SPACE.SHARED), ("STORE", o[0], SPACE.GLOBAL)):
        base, at, wide = k.memory(text, space)
        k.alu("shl_b32", ahead, k.special("laneid", 4), k.constant(2, 4))
        if wide:
            k.alu("ext64_u32", address, ahead)
            k.alu("add_u64", address, address, base)
        elif base != NONE:
            k.alu("add_u32", address, ahead, base)
        else:
            k.alu("mov_b32", address, ahead)
        _access(k, what, k.spare, (address, at, wide), text, space, 4)
