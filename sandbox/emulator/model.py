"""Models the time that a card would take for the counted work of a call. The result is the same on every machine.

A launch takes as long as its slowest part: memory, the second-level cache, the busiest unit of a multiprocessor, or the
longest chain of dependent instructions. The card is an H200 with rates from NVIDIA's data sheets and microbenchmarks;
see docs/emulated-model.md for the reasons and for the agreement with a card.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from .names import NEED
from .work import KINDS, Work

# Increase it with each change to the model or the counts: times of two versions are not comparable.
MODEL_VERSION = 11
NEEDS = (*KINDS, *(name.lower().replace("_", " ") for name in NEED))
# Units of the needs for tensor cores and for lines.
TENSOR_UNITS, LINE_UNITS = 65536, 4


@dataclass(frozen=True)
class Card:
    """A GPU. "A cycle" means for each multiprocessor in a cycle."""

    name: str
    multiprocessors: int
    clock: float  # cycles a second
    dram: float  # bytes a second
    dram_read: float  # of reads alone
    l2: float  # bytes a second
    issue: float  # warp instructions a cycle
    rates: Mapping[str, float]  # warp instructions of each kind a cycle
    l1: float  # lines a cycle
    banks: float  # passes through shared memory a cycle
    flops: Mapping[str, float]  # of tensor cores a cycle, by type
    threads: int  # of a multiprocessor; so are the next four
    blocks: int
    shared: int  # bytes
    registers: int
    l1_bytes: int  # shared memory takes its part of them
    from_l2: float  # sectors a cycle
    launch: float  # seconds of an empty launch
    copy: float  # seconds of an empty copy or memset
    latency: float  # seconds until memory answers
    block: float  # seconds between the starts of two blocks
    update: float  # seconds between two atomics on one place of the second-level cache
    slices: int  # of the second-level cache, which work in parallel
    left: float  # bytes that the call before wrote and the second-level cache still has, at most
    pushed: float  # bytes of these that go to memory for each byte that is read
    overlap: float  # a launch takes (sum of part ** overlap) ** (1 / overlap)
    link: float = 390e9  # bytes a second from another GPU (NVLink between two H200s)


H200 = Card(
    name="NVIDIA H200",
    multiprocessors=132,
    clock=1.755e9,
    dram=4.3e12,
    dram_read=4.55e12,
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
    block=0.60e-9,
    update=1.65e-9,
    slices=96,
    left=30e6,
    pushed=0.38,
    overlap=4.0,
)  # fmt: skip
# The same processor with other memory.
H100 = replace(H200, name="NVIDIA H100 80GB HBM3", dram=3.0e12, dram_read=3.17e12)
_BYTES_OF_SECTOR, _BYTES_OF_LINE, _SECTORS_OF_LINE = 32, 128, 4
# Shared memory leaves at least this much of a first-level cache.
_LEAST_L1 = 28 << 10
# Shared memory of a block is allocated in these units, and the system takes 1 KiB more.
_SHARED_UNIT, _SHARED_OWN = 128, 1024
# Registers of a warp are allocated in these units, in one of the multiprocessor's parts.
_REGISTER_UNIT, _PARTS = 256, 4


@dataclass(frozen=True)
class Row:
    """Counts of a launch at one instruction, as struct counts of engine.h. A sector has 32 bytes, a line 128."""

    work: Work
    line: int  # of the source
    steps: int | None  # bytes between the addresses of neighbouring lanes, if always the same
    issued: int  # times that warps issued it
    lanes: int  # active threads, summed over these
    guarded: int  # of these, threads whose predicate was true
    divergent: int  # times that it split a warp
    waited: int  # cycles that warps waited for operands, or for others at a barrier
    requests: int  # of warps to global memory
    sectors: int
    ideal_sectors: int  # if the bytes were contiguous
    l2: int  # of the sectors, from the second-level cache
    dram: int  # of these, from memory
    same: int  # atomics: lanes that change one address in turn; a match: distinct values of lanes
    shared_requests: int
    passes: int  # through banks of shared memory
    ideal_passes: int  # without conflicts
    constant_requests: int
    constant_passes: int  # one for each address
    local_requests: int
    local_sectors: int
    lines: int  # that requests touch; the first-level cache looks them up one by one
    delayed: int = 0  # cycles that warps waited for its result
    bytes: int = 0  # of global memory that its threads asked for
    array: str = ""  # that it accesses; empty: none, or several
    array_bytes: int = 0
    ptx: str = ""
    remote: bool = False  # the array is another GPU's


@dataclass(frozen=True)
class Spill:
    """Registers that the assembler put into local memory at a line of the source."""

    line: int
    bytes: int  # that a thread moves each time that it passes the line
    requests: int  # of warps, of 4 bytes a thread, in the whole launch


@dataclass(frozen=True)
class Launch:
    """Counts of one launch. Blocks go to multiprocessors in turn, and then to the place that is free first."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int  # bytes of a block
    registers: int | None  # of a thread; None: unknown
    counted: int = 0  # blocks that were counted; the counts below are scaled up to all
    updates: int = 0  # sectors that atomics changed
    updates_most: int = 0  # of these, the most in one place of 256 bytes
    chain: int = 0  # cycles of the slowest place for blocks, by latency alone
    # Cycles of a block after its last data from memory and from the second-level cache, if it were alone. Mean.
    after_memory: float = 0.0
    after_l2: float = 0.0
    busiest: tuple[int, ...] = (0,) * len(NEEDS)  # for each need, the most that a multiprocessor has
    rows: tuple[Row, ...] = ()
    spills: tuple[Spill, ...] = ()
    gpu: int | None = None  # None: there is one
    # Bytes that the call before wrote: that its reads push out of the second-level cache, and what is left there then.
    pushed: int = 0
    left: int = 0

    @property
    def blocks(self) -> int:
        return math.prod(self.grid)

    @property
    def threads(self) -> int:
        return math.prod(self.block)


@dataclass(frozen=True)
class Occupancy:
    """How much of a launch a multiprocessor runs at a time."""

    blocks: int  # at least 1
    warps: int
    limiter: str  # registers, shared memory, threads or blocks


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
    limiter = min(most, key=lambda resource: most[resource])
    blocks = max(1, most[limiter])
    return Occupancy(blocks, blocks * warps, limiter)


@dataclass(frozen=True)
class Share:
    """A block's share of the card."""

    l1_lines: int  # of 128 bytes in the first-level cache
    live: int  # blocks that the card runs at a time


def share_of(launch: Launch, card: Card = H200) -> Share:
    most = min(occupancy_of(launch, card).blocks, math.ceil(launch.blocks / card.multiprocessors))
    shared = -(-launch.shared // _SHARED_UNIT) * _SHARED_UNIT + _SHARED_OWN
    left = max(card.l1_bytes - most * shared, _LEAST_L1)
    return Share(left // most // _BYTES_OF_LINE, min(most * card.multiprocessors, launch.blocks))


def cycles_of(card: Card = H200) -> tuple[float, ...]:
    """Cycles of a multiprocessor for one unit of each of ``NEEDS``."""
    return (
        *(1.0 / card.rates[kind] if kind in card.rates else 0.0 for kind in KINDS),
        1.0 / card.issue,
        1.0 / TENSOR_UNITS,
        1.0 / (LINE_UNITS * card.l1),
        1.0 / card.banks,
        1.0 / card.from_l2,
    )


def weights_of(work: Sequence[Work], card: Card = H200) -> list[int]:
    """For each row, issue slots and units of tensor cores, as struct weight of engine.h."""
    found = []
    for row_work in work:
        tensor = (
            row_work.flops / card.flops.get(row_work.type, card.flops["f16"])
            if row_work.kind == "matrix"
            else 0.0
        )
        found += [0 if row_work.kind == "free" else row_work.slots, round(TENSOR_UNITS * tensor)]
    return found


_BULK_STORE = re.compile(r"cp\.(async|reduce\.async)\.bulk\S*\.global\.shared")
_NAMES_OF_NEEDS = {
    "issue": "instruction issue",
    "tensor": "tensor cores",
    "lines": "L1 lines",
    "banks": "shared memory",
    "from l2": "L2 to a multiprocessor",
}


def spills_in(launch: Launch, rows: Sequence[Row], of_line: Mapping[int, int]) -> list[Spill]:
    """``of_line``: see ``spills.Spills``. A line is passed as often as warps issue its instructions on average. If
    PTX accesses local memory there, that is counted already."""
    issued: dict[int, list[int]] = {}
    counted = {row.line for row in rows if row.local_requests}
    for row in rows:
        issued.setdefault(row.line, []).append(row.issued)
    warps = launch.blocks * -(-launch.threads // 32)
    return [
        Spill(
            line,
            size,
            round(size / 4 * (math.fsum(issued[line]) / len(issued[line]) if line in issued else warps)),
        )
        for line, size in sorted(of_line.items())
        if line not in counted
    ]


def spilling(launch: Launch, card: Card) -> dict[str, float]:
    """What spills add to each part: all multiprocessors alike, from the first-level cache if they fit there."""
    requests = sum(spill.requests for spill in launch.spills)
    if not requests:
        return {}
    occupancy, share = occupancy_of(launch, card), requests / min(card.multiprocessors, launch.blocks)
    found = {
        "memory units": share / card.rates["memory"] / card.clock,
        "instruction issue": share / card.issue / card.clock,
        "L1 lines": share / card.l1 / card.clock,
    }
    # A register is stored once and loaded once.
    kept = 32 * occupancy.warps * sum(spill.bytes for spill in launch.spills) // 2
    if kept > share_of(launch, card).l1_lines * _BYTES_OF_LINE * occupancy.blocks:
        found["L2 to a multiprocessor"] = _SECTORS_OF_LINE * share / card.from_l2 / card.clock
        found["L2"] = requests * _BYTES_OF_LINE / card.l2
    return found


# Parts of the units that the blocks of one multiprocessor share.
_OF_UNITS = tuple(_NAMES_OF_NEEDS.get(need, f"{need} units") for need in NEEDS)


def _with_turns(launch: Launch, card: Card, latency: float, busy: float) -> float:
    """``latency``, and what is lost if too few blocks share a multiprocessor to keep its busiest unit at work. That
    unit, alone, takes ``busy``.

    Blocks go round between waiting and the unit, which serves one at a time (a closed queue; mean value analysis). The
    warps of a block with barriers begin and end together, so one interval's wait and work hardly overlap; other warps
    go round on their own.
    """
    if not latency or not busy:
        return latency
    each = math.ceil(launch.blocks / card.multiprocessors)
    together = min(occupancy_of(launch, card).blocks, each)
    warps = -(-launch.threads // 32)
    work, waits, customers = busy / each, latency / math.ceil(each / together), together
    if barriers := sum(row.issued for row in launch.rows if _is_barrier(row)) / (warps * launch.blocks):
        waits = max(waits - work, 0.0) + min(work, waits, (barriers + 1) * card.latency)
    else:
        work, customers = work / warps, together * warps
    queued = served = 0.0
    for present in range(1, customers + 1):
        stay = work * (1 + queued)
        served = present / (stay + waits)
        queued = served * stay
    queueing = each * customers / together / served
    lost: float = max(queueing**card.overlap - busy**card.overlap, 0.0) ** (1 / card.overlap)
    return max(latency, lost)


def _is_barrier(row: Row) -> bool:
    return row.ptx.startswith("bar") and not row.ptx.startswith("bar.warp")


@dataclass(frozen=True)
class Traffic:
    """Bytes through memory or the second-level cache."""

    read: int
    written: int


def traffic_of(launch: Launch) -> Traffic:
    read = written = 0
    for row in launch.rows:
        size = row.dram * _BYTES_OF_SECTOR
        if row.remote:
            continue
        if row.work.access == "atomic":  # it does both
            read += size // 2
            written += size - size // 2
        elif row.work.access == "store" or _BULK_STORE.match(row.ptx):
            written += size
        else:
            read += size
    return Traffic(read, written)


def l2_traffic_of(launch: Launch) -> Traffic:
    """Bytes through the second-level cache. Stores move whole lines."""
    read = written = 0
    for row in launch.rows:
        if row.remote:
            continue
        if row.work.access == "store":
            written += max(row.l2, _SECTORS_OF_LINE * row.lines) * _BYTES_OF_SECTOR
        elif _BULK_STORE.match(row.ptx):
            written += row.l2 * _BYTES_OF_SECTOR
        else:
            read += row.l2 * _BYTES_OF_SECTOR
    return Traffic(read, written)


def after(launch: Launch, earlier: Sequence[Launch], card: Card = H200) -> Launch:
    """``launch`` with what it pushes out, after ``earlier`` ones of its call. What it writes itself stays in the
    second-level cache instead."""
    moved = traffic_of(launch)
    left = next((other.left for other in reversed(earlier) if other.gpu == launch.gpu), round(card.left))
    pushed = max(0, min(left, round(card.pushed * moved.read)) - moved.written)
    left = max(0, left - round(card.pushed * (moved.read + moved.written)))
    return replace(launch, pushed=pushed, left=left)


def parts_of(launch: Launch, card: Card = H200) -> dict[str, float]:
    """Seconds of each part of a launch on its own."""
    link = 0
    for row in launch.rows:
        if row.remote:
            stored = _SECTORS_OF_LINE * row.lines if row.work.access == "store" else 0
            link += max(row.l2, stored) * _BYTES_OF_SECTOR
    asked = l2_traffic_of(launch)
    moved = traffic_of(launch)
    both = 2 * min(moved.read, moved.written)
    reads, writes = max(moved.read - moved.written, 0) + launch.pushed, max(moved.written - moved.read, 0)
    needs = zip(NEEDS, launch.busiest, cycles_of(card), strict=True)
    found = {
        _NAMES_OF_NEEDS.get(need, f"{need} units"): units * cycles / card.clock
        for need, units, cycles in needs
    }
    found |= {
        "L2": (asked.read + asked.written) / card.l2,
        "DRAM": (both + writes) / card.dram + reads / card.dram_read,
        "link between GPUs": link / card.link,
        "atomics on one address": card.update * max(launch.updates_most, launch.updates / card.slices),
        "blocks": card.block * launch.blocks,
        "latency": launch.chain / card.clock,
    }
    for name, seconds in spilling(launch, card).items():
        found[name] += seconds
    found["latency"] = _with_turns(launch, card, found["latency"], max(found[name] for name in _OF_UNITS))
    return {name: seconds for name, seconds in found.items() if seconds}


def longest_of(parts: Mapping[str, float], card: Card = H200) -> float:
    """Seconds of all parts together. Parts that are nearly as long as the longest add a little."""
    most = max(parts.values(), default=0.0)
    if not most:
        return 0.0
    summed = math.fsum(math.pow(seconds / most, card.overlap) for seconds in parts.values())
    return most * math.pow(summed, 1.0 / card.overlap)


def after_data(launch: Launch, parts: Mapping[str, float], card: Card = H200) -> float:
    """Seconds from the launch's last data to its end. Other blocks' data hide what a block does after its own last
    data, but the last block has nobody to hide it. Stores of blocks that are that far go on in that time. ``parts``
    weigh by their share in ``longest_of``: if units or chains decide, data come early, and those parts have all that
    a block does."""
    most = max(parts.values(), default=0.0)
    shares = {name: math.pow(seconds / most, card.overlap) for name, seconds in parts.items()}
    if not shares:
        return 0.0
    moved, asked = traffic_of(launch), l2_traffic_of(launch)
    waited = sum(
        shares.get(name, 0.0) * cycles * traffic.read / max(traffic.read + traffic.written, 1)
        for name, cycles, traffic in (("DRAM", launch.after_memory, moved), ("L2", launch.after_l2, asked))
    )
    return waited / math.fsum(shares.values()) / card.clock


def took(launch: Launch, card: Card = H200) -> float:
    """Seconds of a launch, less those of an empty one."""
    parts = parts_of(launch, card)
    return longest_of(parts, card) + after_data(launch, parts, card)


def seconds_of(
    launches: Sequence[Launch], copies: int = 0, copied: int = 0, card: Card = H200, *, linked: int = 0
) -> float:
    """Seconds of a call: its launches in sequence, and ``copies`` and memsets of ``copied`` bytes in all, of which
    ``linked`` go from one GPU to another. Of several GPUs, the launches of the one that takes longest."""
    launched: dict[int | None, float] = {}
    for launch in launches:
        launched[launch.gpu] = launched.get(launch.gpu, 0.0) + card.launch + took(launch, card)
    return max(launched.values(), default=0.0) + copies_seconds(copies, copied, card, linked=linked)


def copies_seconds(copies: int, copied: int, card: Card = H200, *, linked: int = 0) -> float:
    return copies * card.copy + 2 * (copied - linked) / card.dram + linked / card.link


def least_seconds(moved: float, operations: float, rate: float, card: Card = H200) -> float:
    """The lower bound for a call that moves ``moved`` bytes once, in one launch, and does ``operations`` at ``rate`` a
    second."""
    return card.launch + longest_of({"DRAM": moved / card.dram_read, "units": operations / rate}, card)
