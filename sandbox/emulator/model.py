"""Models a card's time for counted work, the same on every machine.

A launch takes as long as its slowest part. The card is an H200; docs/emulated-model.md has sources and
agreement.
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
TENSOR_UNITS, LINE_UNITS = 65536, 4


@dataclass(frozen=True)
class Card:
    """Rates a cycle are those of one multiprocessor."""

    name: str
    multiprocessors: int
    clock: float
    dram: float  # bytes a second
    dram_read: float  # reads alone
    l2: float  # bytes a second
    issue: float  # warp instructions a cycle
    rates: Mapping[str, float]
    l1: float
    banks: float  # passes through shared memory a cycle
    flops: Mapping[str, float]  # tensor cores' a cycle, by type
    threads: int  # a multiprocessor's, like the next four
    blocks: int
    shared: int
    registers: int
    l1_bytes: int  # minus shared memory
    from_l2: float
    launch: float  # seconds of an empty launch
    copy: float  # seconds of an empty copy or memset
    latency: float
    block: float  # between starts of blocks, in seconds
    update: float  # between atomics on one place in L2, in seconds
    slices: int  # of L2, which work in parallel
    left: float  # bytes of the previous call's writes that L2 still has, at most
    pushed: float  # of these, bytes that go to memory for each byte read
    overlap: float  # (sum of part ** overlap) ** (1 / overlap)
    link: float = 390e9  # bytes a second between two H200s (NVLink)


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
    # mma.sync reaches five eighths of wgmma.
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
H100 = replace(H200, name="NVIDIA H100 80GB HBM3", dram=3.0e12, dram_read=3.17e12)
_BYTES_OF_SECTOR, _BYTES_OF_LINE, _SECTORS_OF_LINE = 32, 128, 4
# The least that shared memory leaves of a first-level cache.
_LEAST_L1 = 28 << 10
# Shared memory of a block comes in these units; the system takes 1 KiB more.
_SHARED_UNIT, _SHARED_OWN = 128, 1024
# Registers of a warp come in these units, in one part of the multiprocessor.
_REGISTER_UNIT, _PARTS = 256, 4


@dataclass(frozen=True)
class Row:
    """A launch's counts at an instruction (struct counts). A sector has 32 bytes, a line 128."""

    work: Work
    line: int
    steps: int | None  # bytes between neighbouring lanes, if constant
    issued: int
    lanes: int  # active threads, summed
    guarded: int  # of these, with a true predicate
    divergent: int
    waited: int  # cycles for operands or a barrier
    requests: int  # of warps to global memory
    sectors: int
    ideal_sectors: int  # if contiguous
    l2: int  # sectors from L2
    dram: int  # of these, from memory
    same: int  # atomics: lanes on one address, in turn; a match: distinct values
    shared_requests: int
    passes: int  # through shared memory's banks
    ideal_passes: int  # without conflicts
    constant_requests: int
    constant_passes: int  # one for each address
    local_requests: int
    local_sectors: int
    lines: int  # looked up one by one in L1
    delayed: int = 0  # cycles that warps waited for its result
    bytes: int = 0  # asked of global memory
    array: str = ""
    array_bytes: int = 0
    ptx: str = ""
    remote: bool = False


@dataclass(frozen=True)
class Spill:
    """Spilled registers at a source line."""

    line: int
    bytes: int
    requests: int  # of warps, 4 bytes a thread, in the launch


@dataclass(frozen=True)
class Launch:
    """Blocks go to multiprocessors in turn, then to the first that is free."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    registers: int | None
    counted: int = 0  # counted blocks; counts are scaled up to all
    updates: int = 0
    updates_most: int = 0  # of these, the most in one place of 256 bytes
    chain: int = 0  # cycles of the slowest place for blocks, by latency alone
    # Cycles of a block after its last data from memory and from the second-level cache, if it were alone. Mean.
    after_memory: float = 0.0
    after_l2: float = 0.0
    busiest: tuple[int, ...] = (0,) * len(NEEDS)  # for each need, the most that a multiprocessor has
    rows: tuple[Row, ...] = ()
    spills: tuple[Spill, ...] = ()
    gpu: int | None = None  # None: there is one
    # Bytes of the previous call's writes: those that this launch pushes out of L2, and the rest.
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
    """What a multiprocessor runs at a time."""

    blocks: int
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
    l1_lines: int  # in L1
    live: int  # on the card at a time


def share_of(launch: Launch, card: Card = H200) -> Share:
    most = min(occupancy_of(launch, card).blocks, math.ceil(launch.blocks / card.multiprocessors))
    shared = -(-launch.shared // _SHARED_UNIT) * _SHARED_UNIT + _SHARED_OWN
    left = max(card.l1_bytes - most * shared, _LEAST_L1)
    return Share(left // most // _BYTES_OF_LINE, min(most * card.multiprocessors, launch.blocks))


def cycles_of(card: Card = H200) -> tuple[float, ...]:
    return (
        *(1.0 / card.rates[kind] if kind in card.rates else 0.0 for kind in KINDS),
        1.0 / card.issue,
        1.0 / TENSOR_UNITS,
        1.0 / (LINE_UNITS * card.l1),
        1.0 / card.banks,
        1.0 / card.from_l2,
    )


def weights_of(work: Sequence[Work], card: Card = H200) -> list[int]:
    """As struct weight: issue slots and tensor units by row."""
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
    """Warps pass a line as often as its instructions are issued on average. Local accesses in PTX are counted
    already.
    """
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
    requests = sum(spill.requests for spill in launch.spills)
    if not requests:
        return {}
    occupancy, share = occupancy_of(launch, card), requests / min(card.multiprocessors, launch.blocks)
    found = {
        "memory units": share / card.rates["memory"] / card.clock,
        "instruction issue": share / card.issue / card.clock,
        "L1 lines": share / card.l1 / card.clock,
    }
    kept = 32 * occupancy.warps * sum(spill.bytes for spill in launch.spills) // 2
    if kept > share_of(launch, card).l1_lines * _BYTES_OF_LINE * occupancy.blocks:
        found["L2 to a multiprocessor"] = _SECTORS_OF_LINE * share / card.from_l2 / card.clock
        found["L2"] = requests * _BYTES_OF_LINE / card.l2
    return found


_OF_UNITS = tuple(_NAMES_OF_NEEDS.get(need, f"{need} units") for need in NEEDS)


def _with_turns(launch: Launch, card: Card, latency: float, busy: float) -> float:
    """``latency``, and the loss if too few blocks keep the busiest unit (``busy`` alone) at work.

    A closed queue of blocks between waiting and the unit, by mean value analysis. Warps of a block with
    barriers go together, so one interval's wait and work hardly overlap.
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
    read: int
    written: int


def traffic_of(launch: Launch) -> Traffic:
    read = written = 0
    for row in launch.rows:
        size = row.dram * _BYTES_OF_SECTOR
        if row.remote:
            continue
        if row.work.access == "atomic":
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
    """After ``earlier`` ones of its call. Its own writes stay in L2."""
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
    """In seconds. Parts near the longest add a little."""
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
    """Of a call in sequence, with ``copies`` and memsets of ``copied`` bytes, of which ``linked`` between
    GPUs. The slowest GPU's launches.
    """
    launched: dict[int | None, float] = {}
    for launch in launches:
        launched[launch.gpu] = launched.get(launch.gpu, 0.0) + card.launch + took(launch, card)
    return max(launched.values(), default=0.0) + copies_seconds(copies, copied, card, linked=linked)


def copies_seconds(copies: int, copied: int, card: Card = H200, *, linked: int = 0) -> float:
    return copies * card.copy + 2 * (copied - linked) / card.dram + linked / card.link


def least_seconds(moved: float, operations: float, rate: float, card: Card = H200) -> float:
    """The lower bound for one launch that moves ``moved`` bytes once and does ``operations`` at ``rate`` a
    second.
    """
    return card.launch + longest_of({"DRAM": moved / card.dram_read, "units": operations / rate}, card)
