"""The time that a card would take for what was counted in a call: a model, the same on every machine.

A launch lasts as long as what holds it up most: memory, the second-level cache, the busiest of a multiprocessor's
units, or the chain of instructions that wait for each other. The card is an H200 by NVIDIA's data sheets, with what
microbenchmarks reach of them; see docs/emulated.md for the argument and for how well it agrees with a card.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from .hopper import KINDS as ASYNC_KINDS
from .hopper import PRODUCT_TYPES, ROWS_OF_A_WARP
from .lower import CONTROL, JOIN, MATRIX_STORED, MATRIX_TYPES, NONE, ROW, SHARED, Lowered

# Another for each change to it or to what is counted: times of two versions are not comparable.
MODEL_VERSION = 5
# As enum class of engine.h.
KINDS = (
    "free", "integer", "float", "double", "special", "convert", "memory", "shuffle", "sync", "matrix", "branch",
)  # fmt: skip


@dataclass(frozen=True)
class Card:
    """``clock``: cycles a second. ``dram``, ``l2``: bytes a second. Of a multiprocessor in a cycle: ``issue``:
    instructions of warps, ``rates``: those of each kind, ``l1``: lines, ``banks``: passes through shared memory,
    ``flops``: of tensor cores by type. Of a multiprocessor: ``threads``, ``blocks``, ``shared`` bytes, ``registers``.
    ``l1_bytes``: of which shared memory takes its part; ``from_l2``: sectors in a cycle. ``launch``: seconds for a
    launch that does nothing; ``copy``: the same for a copy or a memset; ``latency``: seconds that memory takes to
    answer; ``block``: from one block's begin to the next one's; ``update``: between two atomics on one place of the
    second-level cache, which has so many ``slices`` that work side by side. ``overlap``: launches take (sum of part **
    overlap) ** (1 / overlap) of their parts."""

    name: str
    multiprocessors: int
    clock: float
    dram: float
    l2: float
    issue: float
    rates: Mapping[str, float]
    l1: float
    banks: float
    flops: Mapping[str, float]
    threads: int
    blocks: int
    shared: int
    registers: int
    l1_bytes: int
    from_l2: float
    launch: float
    copy: float
    latency: float
    block: float
    update: float
    slices: int
    overlap: float


H200 = Card(
    name="NVIDIA H200",
    multiprocessors=132,
    clock=1.755e9,
    dram=4.3e12,
    l2=6.0e12,
    issue=4.0,
    rates={
        "integer": 2.0, "float": 4.0, "double": 2.0, "special": 0.5, "convert": 2.0, "memory": 1.0, "shuffle": 1.0,
        "sync": 0.5, "branch": 2.0,
    },
    l1=1.0,
    banks=1.0,
    # mma.sync reaches about five eighths of what wgmma does.
    flops={
        **{"f64": 256.0, "tf32": 1280.0, "f16": 2560.0, "bf16": 2560.0},
        **dict.fromkeys(("s8", "u8", "s4", "u4", "b1", "e4m3", "e5m2"), 5120.0),
        **{"wgmma f16": 4096.0, "wgmma bf16": 4096.0, "wgmma tf32": 2048.0},
        **dict.fromkeys(("wgmma s8", "wgmma u8", "wgmma e4m3", "wgmma e5m2", "wgmma b1"), 8192.0),
    },
    threads=2048,
    blocks=32,
    shared=233472,
    registers=65536,
    l1_bytes=262144,
    from_l2=2.0,
    launch=3.0e-6,
    copy=1.3e-6,
    latency=0.45e-6,
    block=0.58e-9,
    update=1.65e-9,
    slices=96,
    overlap=4.0,
)  # fmt: skip
# The same processor behind memory of another kind.
H100 = replace(H200, name="NVIDIA H100 80GB HBM3", dram=3.0e12)
_BYTES_OF_SECTOR, _BYTES_OF_LINE, _SECTORS_OF_LINE, _WORD = 32, 128, 4, 4
# What shared memory leaves of a first-level cache.
_LEAST_L1 = 28 << 10
# A block's shared memory is given out in this many bytes, beside 1 KiB of the system's own.
_SHARED_UNIT, _SHARED_OWN = 128, 1024
# A warp's registers are given out in this many, in one of the parts of a multiprocessor.
_REGISTER_UNIT, _PARTS = 256, 4

# What PTX writes as one instruction and a card does in several, in slots of issue.
_WEIGHTS = (
    (re.compile(r"(div|rem)_[us]64"), 70.0),
    (re.compile(r"(div|rem)_[us](16|32)"), 18.0),
    (re.compile(r"(div|rcp|sqrt|rsqrt).*f64"), 20.0),
    (re.compile(r"div.*f32"), 9.0),
    (re.compile(r"(rcp|sqrt)_(dir|ftz)?_?f32"), 6.0),
    (re.compile(r"popc|brev|bfind"), 4.0),
    (re.compile(r"(add|sub|mul_lo|mad_lo|min|max|setp_\w+)_[us]64|(shl|shr)_[bus]64"), 2.0),
)
_KINDS_OF_NAMES = (
    (re.compile(r"mov_|piece_|join_|ext(32|64)_u|cut32_|isspacep|.*_pred$|pred_of|b32_of_pred"), "free"),
    (re.compile(r".*f64(?!_of)"), "double"),
    (re.compile(r"(sin|cos|ex2|lg2|rsqrt|rcp|sqrt|tanh|div).*f"), "special"),
    (re.compile(r"(popc|brev|bfind)"), "convert"),
    (re.compile(r"cvt_(f16|bf16|f32|tf32|[us]\d+|rz|relu|f16x2|bf16x2|e\dm\dx2)_.*|r[npmz]i_"), "convert"),
    (re.compile(r".*(f32|f16|bf16)"), "float"),
)
_KINDS_OF_CONTROL = {
    **dict.fromkeys(("LOAD", "STORE", "ATOMIC", "COPY_LATE", "HEAP", "TEXTURE"), "memory"),
    **dict.fromkeys(("SHUFFLE", "VOTE", "MATCH", "REDUX", "ELECT"), "shuffle"),
    **dict.fromkeys(("BARRIER", "WARP_BARRIER", "FENCE", "CLOCK", "WAIT_GROUP"), "sync"),
    **dict.fromkeys(("NOP", "POP", "LOCAL_ADDRESS", "COMMIT", "ASSERT", "ACTIVE_MASK"), "free"),
    "MATRIX": "matrix",
}  # fmt: skip
_KINDS_OF_ASYNC = {
    "MAP_RANK": "integer", "RANK_OF": "integer", "CLUSTER_ARRIVE": "sync", "CLUSTER_WAIT": "sync",
    "PROXY_FENCE": "sync", "BULK_COMMIT": "sync", "BULK_WAIT": "sync", "BULK_WAIT_READ": "sync",
    "PRODUCT_FENCE": "sync", "PRODUCT_COMMIT": "sync", "PRODUCT_WAIT": "sync",
}  # fmt: skip
_ACCESSES = {"LOAD": "load", "STORE": "store", "ATOMIC": "atomic", "COPY_LATE": "copy"}


@dataclass(frozen=True)
class Work:
    """What one instruction asks for: a kind of ``KINDS``, slots of issue; of a matrix product its type and flops.
    ``access``: load, store, atomic or copy (cp.async), where it reaches memory."""

    kind: str
    slots: float = 1.0
    type: str = ""
    flops: int = 0
    access: str = ""


def work_of(lowered: Lowered, names: Sequence[str]) -> list[Work]:
    """Row by row. ``names``: of the operations of alu.ops."""
    return [_work(lowered, row, names) for row in ROW.iter_unpack(lowered.rows)]


def _work(lowered: Lowered, row: tuple[int, ...], names: Sequence[str]) -> Work:
    number = row[0]
    if number >= len(CONTROL):
        return _work_of_name(names[number - len(CONTROL)])
    if CONTROL[number] == "ASYNC":
        return _work_of_async(lowered, row)
    kind = _KINDS_OF_CONTROL.get(CONTROL[number], "branch")
    if kind != "matrix":
        return Work(kind, access=_ACCESSES.get(CONTROL[number], ""))
    if row[3]:  # ldmatrix, stmatrix
        return Work("memory", access="store" if row[2] & MATRIX_STORED else "load")
    which, m, n, k, a_type = lowered.pool[row[8] : row[8] + 5]
    if which < 2:
        return Work("memory", access=("load", "store")[which])
    return Work("matrix", 1.0, MATRIX_TYPES[a_type], 2 * m * n * k)


def _work_of_async(lowered: Lowered, row: tuple[int, ...]) -> Work:
    name = ASYNC_KINDS[row[2]]
    if name != "PRODUCT":
        access = "copy" if name == "BULK_COPY" else ""
        return Work(_KINDS_OF_ASYNC.get(name, "memory"), access=access)
    n, k, _, a_type = lowered.pool[row[12] : row[12] + 4]
    return Work("matrix", 1.0, f"wgmma {PRODUCT_TYPES[a_type]}", 2 * ROWS_OF_A_WARP * n * k)


def widths_of(lowered: Lowered) -> bytes:
    """Row by row, of loads from shared memory that the assembler makes one of: how many there are (2 or 4), and 16
    times the load's place among them; 0 for what stays by itself. They follow each other in one basic block, from
    addresses that are known to lie side by side; whether the first is aligned enough is seen when they run."""
    rows = list(ROW.iter_unpack(lowered.rows))
    found, groups = bytearray(len(rows)), dict[int, dict[int, int]]()

    def end(base: int) -> None:
        offsets = groups.pop(base)
        for offset, first in offsets.items():
            for count in (4, 2):
                members = [offsets.get(offset + _WORD * at, -1) for at in range(count)]
                if offset % (_WORD * count) == 0 and min(members) >= 0 and not found[first]:
                    for at, member in enumerate(members):
                        found[member] = count + 16 * at

    for number, row in enumerate(rows):
        op, flags, size, count, space, _, guard, d, a = row[:9]
        loads = op < len(CONTROL) and CONTROL[op] == "LOAD"
        if flags & JOIN or (op < len(CONTROL) and not loads):
            for base in list(groups):
                end(base)
        if loads and (space, size, count, guard) == (SHARED, _WORD, 1, NONE):
            groups.setdefault(a, {}).setdefault(row[12], number)
        if d in groups:
            end(d)
    for base in list(groups):
        end(base)
    return bytes(found)


_known: dict[str, Work] = {}


def _work_of_name(name: str) -> Work:
    if name not in _known:
        kind = next((kind for pattern, kind in _KINDS_OF_NAMES if pattern.match(name)), "integer")
        slots = next((slots for pattern, slots in _WEIGHTS if pattern.match(name)), 1.0)
        _known[name] = Work(kind, slots)
    return _known[name]


@dataclass(frozen=True)
class Row:
    """What a launch asked for at one instruction, in ``line`` of the source: as struct counts of engine.h.

    ``issued``: how often warps issued it; ``lanes``: with how many active threads in all, of which ``guarded`` had its
    predicate; ``divergent``: how often it sent a warp two ways; ``waited``: cycles of warps until its operands, or the
    others at a barrier, were there.
    Global memory: ``requests`` of warps, with ``sectors`` of 32 bytes, and ``ideal_sectors`` if their bytes lay side by
    side; of the sectors, ``l2`` came from the second-level cache, and of those ``dram`` from behind it; ``same``: of
    atomics, lanes that change one address one after the other.
    Shared memory: ``shared_requests``, ``passes`` through its banks and ``ideal_passes`` without conflicts. Constant
    memory: ``constant_requests``, and ``constant_passes``, one an address. Local memory: ``local_requests``,
    ``local_sectors``.
    ``lines``: of 128 bytes, that requests touch: the first-level cache looks up one after the other.
    ``steps``: bytes between the addresses of neighbouring lanes, where that is always the same; else None."""

    work: Work
    line: int
    steps: int | None
    issued: int
    lanes: int
    guarded: int
    divergent: int
    waited: int
    requests: int
    sectors: int
    ideal_sectors: int
    l2: int
    dram: int
    same: int
    shared_requests: int
    passes: int
    ideal_passes: int
    constant_requests: int
    constant_passes: int
    local_requests: int
    local_sectors: int
    lines: int


@dataclass(frozen=True)
class Launch:
    """What one launch asked for. ``path``: cycles of a block on average, ``longest``: of the longest, if nothing but
    latency holds it up. ``shared``: bytes of a block; ``registers``: of a thread, None: not known. ``updates``: sectors
    that atomics changed, one after the other, ``updates_most`` of them in the same 256 bytes."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    registers: int | None
    path: float = 0.0
    longest: int = 0
    updates: int = 0
    updates_most: int = 0
    rows: tuple[Row, ...] = ()

    @property
    def blocks(self) -> int:
        return math.prod(self.grid)

    @property
    def threads(self) -> int:
        return math.prod(self.block)


@dataclass(frozen=True)
class Occupancy:
    """How many ``blocks`` of a launch a multiprocessor has at a time, at least 1, of how many ``warps`` in all, and
    what keeps it from having more: ``limiter``: registers, shared memory, threads or blocks."""

    blocks: int
    warps: int
    limiter: str


def occupancy_of(launch: Launch, card: Card = H200) -> Occupancy:
    warps = -(-launch.threads // 32)
    shared = -(-launch.shared // _SHARED_UNIT) * _SHARED_UNIT + _SHARED_OWN
    most = {
        "threads": card.threads // (32 * warps),
        "shared memory": card.shared // shared,
        "blocks": card.blocks,
    }
    if launch.registers:
        of_warp = -(-32 * launch.registers // _REGISTER_UNIT) * _REGISTER_UNIT
        most["registers"] = card.registers // _PARTS // of_warp * _PARTS // warps
    limiter = min(most, key=lambda it: most[it])
    blocks = max(1, most[limiter])
    return Occupancy(blocks, blocks * warps, limiter)


@dataclass(frozen=True)
class Share:
    """``l1_lines``: of 128 bytes, that each of the blocks on a multiprocessor has of its first-level cache; ``live``:
    how many blocks the card runs at a time."""

    l1_lines: int
    live: int


def share_of(launch: Launch, card: Card = H200) -> Share:
    most = min(occupancy_of(launch, card).blocks, math.ceil(launch.blocks / card.multiprocessors))
    shared = -(-launch.shared // _SHARED_UNIT) * _SHARED_UNIT + _SHARED_OWN
    left = max(card.l1_bytes - most * shared, _LEAST_L1)
    return Share(left // most // _BYTES_OF_LINE, min(most * card.multiprocessors, launch.blocks))


def parts_of(launch: Launch, card: Card = H200) -> dict[str, float]:
    """Seconds that each thing would take if it alone held the launch up."""
    units: dict[str, float] = {}
    sums = {"issue": 0.0, "l1": 0.0, "banks": 0.0, "tensor": 0.0, "l2": 0.0, "from l2": 0.0, "dram": 0.0}
    for row in launch.rows:
        slots = row.issued * row.work.slots
        sums["issue"] += slots / card.issue
        if row.work.kind == "matrix":
            sums["tensor"] += row.issued * row.work.flops / card.flops.get(row.work.type, card.flops["f16"])
        else:
            units[row.work.kind] = units.get(row.work.kind, 0.0) + slots / card.rates[row.work.kind]
        sums["l1"] += (row.lines + row.local_sectors / _SECTORS_OF_LINE) / card.l1
        sums["banks"] += (row.passes + row.constant_passes) / card.banks
        sums["from l2"] += row.l2 / card.from_l2
        # What is stored travels by lines, however little of one is written.
        stored = _SECTORS_OF_LINE * row.lines if row.work.access == "store" else 0
        sums["l2"] += max(row.l2, stored) * _BYTES_OF_SECTOR
        sums["dram"] += row.dram * _BYTES_OF_SECTOR
    # Blocks are handed out one by one: the busiest multiprocessor has this many of them.
    most = math.ceil(launch.blocks / card.multiprocessors)
    share = most / launch.blocks / card.clock
    rounds = math.ceil(most / occupancy_of(launch, card).blocks)
    found = {f"{kind} units": cycles * share for kind, cycles in units.items() if kind != "free"}
    found |= {
        "instruction issue": sums["issue"] * share,
        "L1 lines": sums["l1"] * share,
        "shared memory": sums["banks"] * share,
        "tensor cores": sums["tensor"] * share,
        "L2 to a multiprocessor": sums["from l2"] * share,
        "L2": sums["l2"] / card.l2,
        "DRAM": sums["dram"] / card.dram,
        "atomics on one address": card.update * max(launch.updates_most, launch.updates / card.slices),
        "blocks": card.block * launch.blocks,
        "latency": max(rounds * launch.path, float(launch.longest)) / card.clock,
    }
    return {name: seconds for name, seconds in found.items() if seconds}


def longest_of(parts: Mapping[str, float], card: Card = H200) -> float:
    """What all parts take together: those that are nearly as long as the longest hold it up a little, too."""
    most = max(parts.values(), default=0.0)
    if not most:
        return 0.0
    summed = math.fsum(math.pow(it / most, card.overlap) for it in parts.values())
    return most * math.pow(summed, 1.0 / card.overlap)


def seconds_of(launches: Sequence[Launch], copies: int = 0, copied: int = 0, card: Card = H200) -> float:
    """Of a call: its launches one after the other, and ``copies`` (and memsets) of ``copied`` bytes in all."""
    launched = sum(card.launch + longest_of(parts_of(it, card), card) for it in launches)
    return launched + copies_seconds(copies, copied, card)


def copies_seconds(copies: int, copied: int, card: Card = H200) -> float:
    return copies * card.copy + 2 * copied / card.dram
