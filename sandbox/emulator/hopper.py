"""Instructions of sm_80 to sm_90 that work on their own: mbarriers, clusters, bulk copies, products of warp groups.

Each is a row of the operation ASYNC whose size says which; see engine/async.h. What ``lower`` knows of the same names
(``fence``, ``cp``, ``ld`` and others) stays as it is.
"""

from __future__ import annotations

import re

from .lower import (
    _ATOMIC_TYPES,
    _ATOMICS,
    _HANDLERS,
    CLUSTER,
    EVERY,
    GENERIC,
    GLOBAL,
    NONE,
    PREFETCHES_BULK,
    SHARED,
    Handler,
    Unsupported,
    _handles,
    _Kernel,
    _space,
)
from .ptx import SIZES, Instruction, number, split_operands

# As enum async_kind of engine/async.h.
KINDS = (
    "MBARRIER_INIT MBARRIER_INVAL MBARRIER_ARRIVE MBARRIER_DROP MBARRIER_EXPECT MBARRIER_COMPLETE MBARRIER_TEST "
    "MBARRIER_TRY COPIES_ARRIVE CLUSTER_ARRIVE CLUSTER_WAIT MAP_RANK RANK_OF PROXY_FENCE BULK_COPY BULK_COMMIT "
    "BULK_WAIT BULK_WAIT_READ PRODUCT_FENCE PRODUCT PRODUCT_COMMIT PRODUCT_WAIT"
).split()
_EXPECTS, _PARITY, _NO_COMPLETE, _RELAXED = 1, 2, 4, 8
_SHARED_TO_SHARED, _GLOBAL_TO_SHARED, _SHARED_TO_GLOBAL = 1, 2, 3
_REGISTER_TYPE = {4: "b32", 8: "b64"}


def _asynchronous(k: _Kernel, kind: str, **fields: int) -> None:
    k.control("ASYNC", size=KINDS.index(kind), **fields)


def _scope(m: tuple[str, ...]) -> tuple[int, int]:
    """Space and flags of an address: whether it may be another block's."""
    return _space(m), CLUSTER if "shared::cluster" in m else 0


def _wide_register(k: _Kernel, text: str) -> int:
    if k.width(text) != 8:
        raise ValueError(f"{text} is no register of 64 bits")
    return k.register(text)


def _wide_value(k: _Kernel, text: str) -> int:
    return k.value(text, "b64") if number(text) is not None else _wide_register(k, text)


@_handles("mbarrier")
def _mbarrier(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    how = m[0]
    if m[-1] != "b64" and how not in ("expect_tx", "complete_tx"):
        raise Unsupported(i.opcode, i.place)
    if how == "pending_count":
        state = _wide_register(k, o[1])
        k.alu("and_b64", k.spare, state, k.constant(0xFFFFF, 8))
        k.alu("cut32_u32", k.register(o[0]), k.spare)
        return
    space, flags = _scope(m)
    if space not in (SHARED, GENERIC):
        raise Unsupported(i.opcode, i.place)
    count = (_PARITY if "parity" in m else 0) | (_NO_COMPLETE if "noComplete" in m else 0)
    count |= (_RELAXED if "relaxed" in m else 0) | (_EXPECTS if "expect_tx" in m else 0)
    k.granule = min(k.granule, 4)
    if how in ("init", "inval"):
        base, at, wide = k.memory(o[0], space)
        fields = {"b": k.value(o[1], "b32")} if how == "init" else {}
        _asynchronous(
            k, f"MBARRIER_{how.upper()}", a=base, imm=at, wide=wide, space=space, flags=flags, **fields
        )
    elif how in ("arrive", "arrive_drop"):
        kind = "MBARRIER_ARRIVE" if how == "arrive" else "MBARRIER_DROP"
        # The state may be left out where it is another block's, or is of no use.
        state, rest = (
            (NONE, o) if o[0].startswith("[") else (NONE if o[0] == "_" else _wide_register(k, o[0]), o[1:])
        )
        base, at, wide = k.memory(rest[0], space)
        value = k.value(rest[1], "b32") if len(rest) > 1 else NONE
        fields = {"c": value} if count & _EXPECTS else {"b": value}
        if count & _EXPECTS and value == NONE:
            raise Unsupported(i.opcode, i.place)
        _asynchronous(
            k, kind, d=state, a=base, imm=at, wide=wide, space=space, flags=flags, count=count, **fields
        )
    elif how in ("expect_tx", "complete_tx"):
        base, at, wide = k.memory(o[0], space)
        kind = "MBARRIER_EXPECT" if how == "expect_tx" else "MBARRIER_COMPLETE"
        _asynchronous(
            k, kind, a=base, imm=at, wide=wide, space=space, flags=flags, count=0, c=k.value(o[1], "b32")
        )
    elif how in ("test_wait", "try_wait"):
        predicate = k.register(o[0])
        base, at, wide = k.memory(o[1], space)
        state = k.value(o[2], "b32") if count & _PARITY else _wide_register(k, o[2])
        kind = "MBARRIER_TEST" if how == "test_wait" else "MBARRIER_TRY"
        _asynchronous(
            k, kind, d=predicate, a=base, b=state, imm=at, wide=wide, space=space, flags=flags, count=count
        )
    else:
        raise Unsupported(i.opcode, i.place)


@_handles("mapa")
def _mapa(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    kind, space = m[-1], SHARED if "shared::cluster" in m else GENERIC
    wide = 3 if SIZES[kind] == 8 else 0
    if k.width(o[0]) != SIZES[kind] or SIZES[kind] not in _REGISTER_TYPE or (space == GENERIC and not wide):
        raise Unsupported(i.opcode, i.place)
    address = k.value(o[1], kind)
    _asynchronous(
        k, "MAP_RANK", d=k.register(o[0]), a=address, b=k.value(o[2], "b32"), wide=wide, space=space
    )


@_handles("getctarank")
def _getctarank(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    kind, space = m[-1], SHARED if "shared::cluster" in m else GENERIC
    if k.width(o[0]) != 4 or SIZES[kind] not in _REGISTER_TYPE:
        raise Unsupported(i.opcode, i.place)
    wide = 2 if SIZES[kind] == 8 else 0
    _asynchronous(k, "RANK_OF", d=k.register(o[0]), a=k.value(o[1], kind), wide=wide, space=space)


def _before(*names: str) -> list[tuple[str, Handler]]:
    return [(name, _HANDLERS[name]) for name in names]


def _extend_barriers(name: str, known: Handler) -> None:
    def handler(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
        if "cluster" not in m:
            known(k, i, m, o)
        elif "arrive" in m:
            _asynchronous(k, "CLUSTER_ARRIVE", count=_RELAXED if "relaxed" in m else 0)
        elif "wait" in m:
            _asynchronous(k, "CLUSTER_WAIT", count=0)
        else:
            raise Unsupported(i.opcode, i.place)

    _HANDLERS[name] = handler


def _extend_fence(known: Handler) -> None:
    def handler(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
        if "proxy" in m and any(it.startswith("async") for it in m):
            _asynchronous(k, "PROXY_FENCE")
        elif "mbarrier_init" in m:
            k.control("NOP")
        else:
            known(k, i, m, o)

    _HANDLERS["fence"] = handler


def _extend_memory(name: str, known: Handler) -> None:
    """Accesses of shared::cluster reach all of a cluster's blocks."""

    def handler(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
        first = len(k.rows)
        known(k, i, m, o)
        if "shared::cluster" in m:
            for row in k.rows[first:]:
                row[1] |= CLUSTER

    _HANDLERS[name] = handler


def _extend_copies(known: Handler) -> None:
    def handler(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
        if "bulk" in m[:3]:
            _bulk(k, i, m, o)
        elif m[:3] == ("async", "mbarrier", "arrive"):
            base, at, wide = k.memory(o[0], SHARED)
            _asynchronous(
                k, "COPIES_ARRIVE", a=base, imm=at, wide=wide, space=SHARED, count=2 if "noinc" in m else 1
            )
        else:
            known(k, i, m, o)

    _HANDLERS["cp"] = handler


def _bulk(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    refused = Unsupported(i.opcode, i.place)
    if "commit_group" in m:
        _asynchronous(k, "BULK_COMMIT")
        return
    if "wait_group" in m:
        left = number(o[0])
        if left is None or not 0 <= left <= EVERY:
            raise refused
        _asynchronous(k, "BULK_WAIT_READ" if "read" in m else "BULK_WAIT", imm=left)
        return
    if "prefetch" in m:
        if "tensor" in m:  # nothing is fetched: the copy itself pays for it
            k.control("NOP")
            return
        base, at, wide = k.memory(o[0], GLOBAL)
        k.control("NOP", size=PREFETCHES_BULK, a=base, b=k.value(o[1], "b32"), imm=at, wide=wide)
        return
    if any(it.startswith(("im2col", "tile::", "cta_group")) for it in m) or "cp_mask" in m:
        raise refused
    tensor = "tensor" in m
    rank = next((int(it[0]) for it in m if len(it) == 2 and it[1] == "d" and it[0] in "12345"), 0)
    spaces = [it for it in m if it.partition("::")[0] in ("shared", "global")]
    outwards = spaces[0] == "global"
    into_cluster = len(spaces) > 1 and spaces[1].startswith("shared") and not outwards
    if tensor != (rank > 0) or len(spaces) != 2 or (outwards and not spaces[1].startswith("shared")):
        raise refused
    if outwards == ("bulk_group" not in m) or outwards == ("mbarrier::complete_tx::bytes" in m):
        raise refused
    how = 0
    if m[0] == "reduce":
        named = next(it for it in m if it in _ATOMICS)
        # A tensor's type is its map's.
        kind = m[-1] if not tensor else "u32"
        if kind not in _ATOMIC_TYPES or named in ("exch", "cas"):
            raise refused
        how = 1 + (_ATOMICS[named] | _ATOMIC_TYPES[kind] << 8)
    nothing = [NONE, 0, 0]
    coordinates: list[list[int]] = []
    described, plain = (o[0], o[1]) if outwards else (o[1], o[0])
    if tensor:
        parts = split_operands(described[1:-1])
        names = split_operands(parts[1][1:-1])
        if len(parts) != 2 or len(names) != rank:
            raise refused
        coordinates = [[k.value(it, "b32"), 0, 0] for it in names]
        tensor_map = _address(k, f"[{parts[0]}]", GENERIC)
        to, source = (
            (tensor_map, _address(k, plain, SHARED)) if outwards else (_address(k, plain, SHARED), tensor_map)
        )
        size, rest = nothing, o[2:]
    else:
        to = _address(k, o[0], GENERIC if outwards else SHARED)
        source = _address(k, o[1], SHARED if outwards or into_cluster else GENERIC)
        size, rest = [k.value(o[2], "b32"), 0, 0], o[3:]
    barrier = nothing
    if not outwards:
        barrier, rest = _address(k, rest[0], SHARED), rest[1:]
    multicast = "multicast::cluster" in m
    ranks = [k.value(rest[0], "b16"), 0, 0] if multicast else nothing
    way = _SHARED_TO_GLOBAL if outwards else _SHARED_TO_SHARED if into_cluster else _GLOBAL_TO_SHARED
    words = [way, rank, int(multicast), how, *to, *source, *barrier, *size, *ranks]
    for it in coordinates + [nothing] * (5 - rank):
        words += it
    at = len(k.pool)
    k.pool.extend(words + [0] * (-len(words) % 32))
    k.granule = min(k.granule, 4)
    _asynchronous(k, "BULK_COPY", imm=at, space=SHARED, flags=CLUSTER)


def _address(k: _Kernel, text: str, space: int) -> list[int]:
    """Unit, whether it is wide, and offset of an address in brackets."""
    base, at, wide = k.memory(text, space)
    if base == NONE and not 0 <= at < 1 << 31:
        base, at, wide = k.constant(at, 8), 0, 2
    if not -(1 << 31) <= at < 1 << 31:
        raise ValueError(f"the offset {at}")
    return [base, int(wide != 0), at & EVERY]


# Of struct tensor_map in engine/bulk.c: where a field lies and the bytes of one element of it.
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
# What PTX and CUtensorMapDataType number differently.
_MAP_TYPES = {8: 10, 9: 8, 10: 9}


def _access(
    k: _Kernel, what: str, unit: int, where: tuple[int, int, int], text: str, space: int, size: int
) -> None:
    """Load or store ``unit``; ``where``: as of ``_Kernel.memory``; ``text``: the address as it is written."""
    base, at, wide = where
    fields = {"d": unit, "a": base, "b": NONE, "c": NONE, "e": NONE, "imm": at, "spare": k.array_of(text)}
    k.control(what, **fields, size=size, count=1, space=space, wide=wide | int(size == 8))


@_handles("tensormap")
def _tensormap(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    if m[0] == "cp_fenceproxy":
        _copy_map(k, i, m, o)
        return
    refused = Unsupported(i.opcode, i.place)
    if m[:2] != ("replace", "tile"):
        raise refused
    field, space, literal = m[2], _space(m), number(o[-1])
    if field == "interleave_layout" and literal == 0:
        return
    if field not in _MAP_FIELDS or space not in (SHARED, GENERIC, GLOBAL):
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
    # A map may be made of nothing but these.
    _access(k, "STORE", k.constant(_MAP_SIGNATURE, 8), (base, at, wide), o[0], space, 8)


def _copy_map(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    """By a whole warp, 4 bytes a lane."""
    if number(o[2]) != _MAP_BYTES:
        raise Unsupported(i.opcode, i.place)
    address, ahead = k.spare4, k.spare4 + 2
    k.granule = min(k.granule, 4)
    for what, text, space in (("LOAD", o[1], SHARED), ("STORE", o[0], GLOBAL)):
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


# As enum type of engine/wgmma.c; with elements of K of one product.
PRODUCT_TYPES = ("f16", "bf16", "tf32", "f32", "f64", "s8", "u8", "s32", "e4m3", "e5m2", "b1")
ROWS_OF_A_WARP = 16
_DEPTHS = {"f16": 16, "bf16": 16, "tf32": 8, "s8": 32, "u8": 32, "e4m3": 32, "e5m2": 32, "b1": 256}
_SHAPE = re.compile(r"m64n(\d+)k(\d+)$")


@_handles("wgmma")
def _wgmma(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    if m[0] == "fence":
        _asynchronous(k, "PRODUCT_FENCE")
    elif m[0] == "commit_group":
        _asynchronous(k, "PRODUCT_COMMIT")
    elif m[0] == "wait_group":
        left = number(o[0])
        if left is None or not 0 <= left <= EVERY:
            raise Unsupported(i.opcode, i.place)
        _asynchronous(k, "PRODUCT_WAIT", imm=left)
    elif m[0] == "mma_async" and "sp" not in m:
        _product(k, i, m, o)
    else:
        raise Unsupported(i.opcode, i.place)


def _product(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    refused = Unsupported(i.opcode, i.place)
    shape = next(found for it in m if (found := _SHAPE.match(it)))
    d_type, a_type, b_type = [it for it in m if it in PRODUCT_TYPES]
    n, depth = int(shape[1]), int(shape[2])
    eights = a_type in ("e4m3", "e5m2")
    integers, bits = a_type in ("s8", "u8"), a_type == "b1"
    same = (
        a_type == b_type or (eights and b_type in ("e4m3", "e5m2")) or (integers and b_type in ("s8", "u8"))
    )
    results = ("s32",) if integers or bits else ("f16", "f32") if a_type == "f16" or eights else ("f32",)
    if not same or depth != _DEPTHS.get(a_type) or d_type not in results or n % 8 or not 8 <= n <= 256:
        raise refused
    d = [k.register(it) for it in split_operands(o[0][1:-1])]
    in_registers = o[1].startswith("{")
    a = [k.value(it, "b32") for it in split_operands(o[1][1:-1])] if in_registers else []
    if len(d) != (n // 4 if d_type == "f16" else n // 2) or (in_registers and len(a) != 4):
        raise refused
    if any(k.width(it) != 4 for it in split_operands(o[0][1:-1])):
        raise refused
    numbers = [number(it) for it in o[4:]]
    halves = a_type in ("f16", "bf16")
    expected = 0 if integers or bits else 2 + (2 - int(in_registers) if halves else 0)
    if (
        len(numbers) != expected
        or any(it not in (1, -1) for it in numbers[:2])
        or any(it not in (0, 1) for it in numbers[2:])
    ):
        raise refused
    scales = [int(it == -1) for it in numbers[:2]] or [0, 0]
    transposed = [it or 0 for it in numbers[2:]] if halves else [0, 0]
    if halves and in_registers:
        transposed = [0, *transposed]
    types = [PRODUCT_TYPES.index(it) for it in (d_type, a_type, b_type)]
    words = [
        n,
        depth,
        *types,
        *transposed,
        *scales,
        int("satfinite" in m),
        len(d),
        len(a),
        *(a + [0] * (4 - len(a))),
        *d,
    ]
    words += [0] * (128 - len(d))
    at = len(k.pool)
    k.pool.extend(words + [0] * (-len(words) % 32))
    k.granule = min(k.granule, 4)
    b_described = _wide_value(k, o[2])
    a_described = NONE if in_registers else _wide_value(k, o[1])
    _asynchronous(k, "PRODUCT", b=a_described, c=b_described, e=k.value(o[3], "pred"), imm=at, space=SHARED)


for _name, _known in _before("bar", "barrier"):
    _extend_barriers(_name, _known)
for _name, _known in _before("ld", "st", "atom", "red"):
    _extend_memory(_name, _known)
_extend_fence(_HANDLERS["fence"])
_extend_copies(_HANDLERS["cp"])
