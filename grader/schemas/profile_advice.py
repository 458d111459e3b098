"""Advice from a profile: the limit and the largest costs of a call in sentences.

The gain of a hint is what the model saves without the cost: ``Costs`` takes it out of the kernel's terms.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from grader.formats import duration, size_text
from grader.schemas.call_profile import (
    MOST_WARPS,
    MULTIPROCESSORS,
    SECTOR_BYTES,
    AccessCounts,
    CallProfile,
    KernelCounts,
    KernelProfile,
    LineCounts,
)

MOST_HINTS = 3
# A launch takes (sum of term ** OVERLAP) ** (1 / OVERLAP), as in the model.
OVERLAP = 4.0
# Smaller shares of a call's time get no sentence.
_WORTH = 0.02
# Lines without counts around those with counts.
_AROUND = 2
# Smaller factors get no sentence.
_SCATTERED = 1.5
_CONFLICTS = 1.25
# More active threads per warp get no sentence.
_FEW_THREADS = 24
_WARP = 32
# Larger shares get no sentence.
_LOW_OCCUPANCY = 0.5
_UNBALANCED = 0.85
# Elements read as often could come from shared memory. If each thread then makes four results, it loads 5
# values instead of 8, and half of the instructions go.
_REUSED, _TILE, _TILE_USES, _TILE_SLOTS = 8.0, 32, 1.6, 0.5
# A smaller array is itself a tile.
_SMALL_BYTES = 4096
_SHARED_CYCLES = 30
# An array that goes through memory less often gets no sentence.
_AGAIN = 1.7
# Threads of a large enough block, and what a thread may do before its block is too small.
_BLOCK_THREADS, _MORE_WORK = 256, 8
# Per cycle.
_INTEGER_RATE, _ISSUE_RATE = 2.0, 4.0
# In PTX: a division of 64 bits, or the question whether 32 bits suffice for it.
_LONG_DIVISION = re.compile(r"(?:div|rem)\.[us]64|and\.b64 .*-4294967296")
# Small workloads need few blocks, so a hint on the grid comes first only if it gains as many times more.
_GRID_WEIGHT, _SMALL_GRID_WEIGHT = 0.5, 0.1
# Tiles are more work than other changes, and not every launch can join another.
_TILE_WEIGHT, _FUSING_WEIGHT = 0.8, 0.6
_LINE_SECTORS = 4
_BOUNDS = {
    "DRAM": "bytes from and to memory",
    "L2": "bytes that miss the L1 cache",
    "L2 to a multiprocessor": "bytes from the L2 cache to one multiprocessor",
    "L1 lines": "lines of 128 bytes that loads and stores touch",
    "shared memory": "passes through shared memory's banks",
    "tensor cores": "products on tensor cores",
    "instruction issue": "instructions that warps issue",
    "atomics on one address": "atomics that wait for each other",
    "blocks": "blocks that begin one after the other",
    "latency": "instructions that wait for each other: too few are in flight",
    "launches": "the cost of launching kernels",
    "copies": "copies and memsets",
}
# Of the whole card; all others are of the busiest multiprocessor.
_OF_THE_CARD = ("DRAM", "L2", "atomics on one address", "blocks", "latency")


@dataclass(frozen=True)
class Hint:
    #: Of the source, from 1; 0: none.
    line: int
    text: str
    # : Microseconds that the model saves without this cost, after better hints for the same kernel.
    us: float
    #: The kind of cost, a word.
    kind: str = ""
    remedy: str = ""
    # : Others with the same cost, which are in ``us``, too.
    lines: tuple[int, ...] = ()
    #: Of ``us``, for the order.
    weight: float = 1.0
    #: The kernel's terms without this cost.
    after: Mapping[str, float] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        return f"Line {self.line}: {self.text}" if self.line else self.text[0].upper() + self.text[1:]

    @property
    def also(self) -> str:
        if not self.lines:
            return ""
        named = [str(line) for line in self.lines[:4]] + (["others"] if len(self.lines) > 4 else [])
        listed = named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
        return f"{'line' if len(self.lines) == 1 else 'lines'} {listed}"


def bound_sentence(profile: CallProfile) -> str:
    if not profile.parts_us:
        return "It launches nothing and copies nothing."
    name, us = max(profile.parts_us.items(), key=lambda part: part[1])
    what = bound_words(name)
    return (
        f"{us / profile.time_us:.0%} of the time is {what} ({name})." if what != name else f"{name} decide."
    )


def bound_words(name: str) -> str:
    return _BOUNDS.get(name) or (name if "units" not in name else f"instructions for the {name}")


def hints_of(profile: CallProfile) -> list[Hint]:
    """The best first; hints of one kernel stay in their order."""
    lists = [list(_of_kernel(kernel)) for kernel in profile.kernels]
    lists += [[hint] for hint in (*_launching(profile), *_several_passes(profile))]
    worth = [[hint for hint in hints if hint.us >= _WORTH * profile.time_us] for hints in lists]
    found: list[Hint] = []
    while len(found) < MOST_HINTS and any(worth):
        best = max(filter(None, worth), key=lambda hints: hints[0].weight * hints[0].us)
        hint = best.pop(0)
        if not any(other.kind == hint.kind == "launches" for other in found):
            found.append(hint)
    return found


def _launching(profile: CallProfile) -> Iterator[Hint]:
    launching = sum(kernel.launch_us for kernel in profile.kernels)
    launches = sum(kernel.launches for kernel in profile.kernels)
    if launches > 1 and launching > 0.5 * profile.time_us:
        yield Hint(
            0,
            f"{launches} launches cost {launching:.1f} µs by themselves: do more per launch",
            launching * (1 - 1 / launches),
            "launches",
            "Let one kernel do what several do, or loop inside the kernel.",
        )


def _several_passes(profile: CallProfile) -> Iterator[Hint]:
    """Launches that each go through the same arrays."""
    launches = sum(kernel.launches for kernel in profile.kernels)
    passes, sizes = dict[str, int](), dict[str, int]()
    for kernel in profile.kernels:
        for array in kernel.arrays:
            most = kernel.launches * array.bytes
            passes[array.name] = passes.get(array.name, 0) + min(array.read, most) + min(array.written, most)
            sizes[array.name] = max(
                sizes.get(array.name, 0), array.bytes * (bool(array.read) + bool(array.written))
            )
    needed, gone = sum(sizes.values()), sum(passes.values())
    if launches < 2 or not needed or gone < _AGAIN * needed:
        return
    worst = max(passes, key=lambda name: passes[name])
    kept = max(needed / gone, 1 / launches)
    yield Hint(
        0,
        f"{launches} launches go through {size_text(gone)} of arrays, of {worst} alone {size_text(passes[worst])}; all "
        f"arrays once are {size_text(needed)}",
        (1 - kept) * (profile.time_us - profile.copies_us),
        "launches",
        "Let one kernel do what several do, so that values stay in registers.",
        weight=_FUSING_WEIGHT,
    )


def together(terms_us: Iterable[float]) -> float:
    """The time of a launch with these terms, without the launch itself."""
    return math.pow(math.fsum(math.pow(us, OVERLAP) for us in terms_us), 1 / OVERLAP)


@dataclass
class Costs:
    """What a change takes out of a kernel's counts, and puts in; ``factors``: of terms."""

    kernel: KernelProfile
    everything: KernelCounts
    l1_lines: float = 0.0
    l2_sectors: float = 0.0
    from_l2: float = 0.0
    dram_sectors: float = 0.0
    passes: float = 0.0
    memory: float = 0.0  # requests
    turns: float = 0.0
    cycles: float = 0.0  # of waiting, or of issuing instructions that others wait for
    slots: float = 0.0
    integer_slots: float = 0.0
    factors: dict[str, float] = field(default_factory=dict)

    def hint(
        self,
        line: int,
        text: str,
        kind: str,
        remedy: str,
        lines: tuple[int, ...] = (),
        weight: float = 1.0,
    ) -> Hint:
        return Hint(line, text, self.gain, kind, remedy, lines, weight, self.after())

    @property
    def gain(self) -> float:
        """Microseconds of all launches."""
        terms = self.kernel.terms_us
        return max(0.0, together(terms.values()) - together(self.after().values()))

    def after(self) -> dict[str, float]:
        every, terms = self.everything, dict(self.kernel.terms_us)
        taken = {
            "L1 lines": _share(self.l1_lines, _lines_of(every)),
            "L2": _share(self.l2_sectors, _l2_of(self.kernel, every)),
            "L2 to a multiprocessor": _share(self.from_l2, every.l2_sectors),
            "DRAM": _share(self.dram_sectors, every.dram_sectors),
            "shared memory": _share(self.passes, every.shared_passes + every.constant_passes),
            "memory units": _share(self.memory, _memory_of(every)),
            "atomics on one address": _share(self.turns, every.atomic_turns),
            "latency": _share(self.cycles, every.stall_cycles + every.instructions),
            "instruction issue": _share(self.slots, _slots_of(every)),
            "integer units": _share(self.integer_slots, _integer_slots_of(self.kernel, every)),
        }
        for name, share in taken.items():
            if name in terms:
                terms[name] *= 1 - share
            elif share < 0 and name == "shared memory":  # a kernel without it will use it
                terms[name] = self._new_passes()
        for name, factor in self.factors.items():
            if name in terms:
                terms[name] *= factor
        return {name: max(0.0, us) for name, us in terms.items()}

    def _new_passes(self) -> float:
        """A pass takes as long as a request to memory."""
        memory = self.kernel.terms_us.get("memory units", 0.0)
        return memory * _share(-self.passes, _memory_of(self.everything))


def _share(part: float, whole: float) -> float:
    return min(1.0, part / whole) if whole else (math.copysign(1.0, part) if part < 0 else 0.0)


def _lines_of(counts: KernelCounts) -> float:
    """Old profiles have no lines, but these are nearly proportional to sectors."""
    lines = counts.l1_lines or counts.sectors / _LINE_SECTORS
    return lines + counts.local_sectors / _LINE_SECTORS + counts.spill_requests


def _l2_of(kernel: KernelProfile, counts: KernelCounts) -> float:
    """Stores move whole lines."""
    stores = sum(
        max(0.0, _stored(access) - access.l2_sectors) for access in kernel.accesses if access.kind == "store"
    )
    return counts.l2_sectors + stores


def _stored(access: AccessCounts) -> float:
    return max(access.l2_sectors, _LINE_SECTORS * access.l1_lines)


def _memory_of(counts: KernelCounts) -> float:
    local = counts.local_requests + counts.spill_requests
    return counts.requests + counts.shared_requests + counts.constant_requests + local


def _slots_of(counts: KernelCounts) -> float:
    return counts.issue_slots or counts.instructions


def _integer_slots_of(kernel: KernelProfile, counts: KernelCounts) -> float:
    issue, integer = (kernel.terms_us.get(name, 0.0) for name in ("instruction issue", "integer units"))
    return _slots_of(counts) * integer * _INTEGER_RATE / (issue * _ISSUE_RATE) if issue else 0.0


def _of_kernel(kernel: KernelProfile) -> Iterator[Hint]:
    """The best, then the best without its cost, and so on."""
    everything, done = kernel.total, set[str]()
    for _ in range(MOST_HINTS):
        found = [hint for advice in _ADVICE for hint in advice(kernel, everything) if hint.kind not in done]
        best = max(found, key=lambda hint: hint.weight * hint.us, default=None)
        if best is None or not best.us:
            return
        yield best
        done.add(best.kind)
        kernel = kernel.model_copy(update={"terms_us": best.after})


# ---- accesses to global memory ----


def _accesses(kernel: KernelProfile) -> list[AccessCounts]:
    """Profiles of earlier versions have counts by line only."""
    if kernel.accesses:
        return kernel.accesses
    return [
        AccessCounts(
            line=line.line,
            kind=kind,
            requests=requests,
            sectors=sectors,
            ideal_sectors=getattr(line, f"{kind}_ideal_sectors", sectors),
            l1_lines=sectors // _LINE_SECTORS,
            l2_sectors=line.l2_sectors * sectors // max(line.sectors, 1),
            dram_sectors=line.dram_sectors * sectors // max(line.sectors, 1),
            turns=line.atomic_turns if kind == "atomic" else 0,
            threads=_WARP * requests,
            step=getattr(line, f"{kind}_step", None),
        )
        for line in kernel.lines
        for kind in ("load", "store", "atomic")
        if (requests := getattr(line, f"{kind}_requests"))
        for sectors in (getattr(line, f"{kind}_sectors"),)
    ]


def _uncoalesced(kernel: KernelProfile, everything: KernelCounts) -> Iterator[Hint]:
    scattered = [
        access
        for access in _accesses(kernel)
        if access.kind != "atomic" and access.sectors > _SCATTERED * access.ideal_sectors
    ]
    costs, lost = Costs(kernel, everything), dict[tuple[int, str, str], float]()
    for access in scattered:
        one = Costs(kernel, everything)
        for each in (costs, one):
            ideal = access.ideal_sectors
            each.l1_lines += max(0.0, access.l1_lines - ideal / _LINE_SECTORS)
            each.dram_sectors += max(0, access.dram_sectors - ideal)
            each.from_l2 += max(0, access.l2_sectors - ideal)
            l2 = _stored(access) if access.kind == "store" and kernel.accesses else access.l2_sectors
            each.l2_sectors += max(0.0, l2 - ideal)
            each.cycles += _waited(kernel, access, access.sectors - ideal, everything)
        lost[access.line, access.array, access.kind] = one.gain
    if scattered:
        worst = max(scattered, key=lambda it: lost[it.line, it.array, it.kind])
        yield costs.hint(
            worst.line,
            _scattered(worst),
            "coalescing",
            "Let neighbouring threads access neighbouring elements; if a row must become a column, go through a tile "
            "in shared memory.",
            _others(worst.line, scattered),
        )


def _waited(kernel: KernelProfile, access: AccessCounts, cycles: float, everything: KernelCounts) -> float:
    """Of ``cycles`` that accesses last longer, those that somebody waits for."""
    if kernel.accesses:
        return min(cycles, access.delay_cycles)
    if kernel.bound != "latency" or not everything.sectors:
        return 0.0
    waits = everything.stall_cycles + everything.instructions
    return waits * (access.sectors - access.ideal_sectors) / everything.sectors


def _scattered(access: AccessCounts) -> str:
    sectors, ideal = access.sectors / access.requests, access.ideal_sectors / access.requests
    verb = "read" if access.kind == "load" else "write"
    of = f" of {access.array}" if access.array else ""
    why = (
        f"neighbouring threads {verb} {abs(access.step):,} bytes apart"
        if access.step is not None
        else f"the elements{of} that a warp {verb}s are scattered"
    )
    return f"{_number(sectors)} sectors per request, ideally {_number(ideal)}: {why}"


def _atomics(kernel: KernelProfile, everything: KernelCounts) -> Iterator[Hint]:
    found = [access for access in _accesses(kernel) if access.kind == "atomic"]
    if not found:
        return
    costs, blocks = Costs(kernel, everything), kernel.launches * kernel.blocks
    worst = max(found, key=lambda it: it.turns)
    met = worst.turns > 2 * worst.requests
    per_block = sum(access.threads for access in found) <= 2 * blocks
    # By one thread of each block, perhaps by fewer blocks.
    few = MULTIPROCESSORS * kernel.launches if per_block else blocks
    if per_block:
        costs.factors = {"blocks": 1 / _MORE_WORK}
        costs.cycles = kernel.stalls.get("global memory", 0) * (1 - 1 / _MORE_WORK)
    for access in found:
        kept = min(1.0, few / access.threads) if access.threads else 1.0
        costs.turns += (1 - kept) * access.turns
        costs.l1_lines += (1 - kept) * access.l1_lines
        costs.l2_sectors += (1 - kept) * access.l2_sectors
        costs.from_l2 += (1 - kept) * access.l2_sectors
        costs.memory += (1 - kept) * access.requests
        costs.cycles += (1 - kept) * access.delay_cycles
    if met:
        text = (
            f"{worst.turns / worst.requests:.0f} threads of a warp change one address, one after the other: add up "
            "within a warp or block first, and let one thread change it"
        )
    else:
        text = f"{worst.threads:,} atomic operations on global memory, which wait for each other"
    yield costs.hint(
        worst.line,
        text,
        "atomics",
        "Let each block handle more elements."
        if per_block
        else "Combine in shared memory first: one atomic a block.",
        _others(worst.line, found),
    )


def _reused(kernel: KernelProfile, everything: KernelCounts) -> Iterator[Hint]:
    """Elements that many threads read from global memory."""
    again = [
        access
        for access in kernel.accesses
        if access.kind == "load" and (access.times or 0.0) >= _REUSED and access.array_bytes > _SMALL_BYTES
    ]
    if not again:
        return
    costs = Costs(kernel, everything)
    for access in again:
        kept = 1 / min(access.times or 1.0, _TILE)
        taken = 1 - kept
        costs.l1_lines += taken * access.l1_lines
        costs.l2_sectors += taken * access.l2_sectors
        costs.from_l2 += taken * access.l2_sectors
        costs.dram_sectors += max(
            0.0, access.dram_sectors - access.array_bytes * kernel.launches / SECTOR_BYTES
        )
        used = access.requests / _TILE_USES
        costs.memory += taken * access.requests - used
        costs.passes -= used
        waits = min(access.delay_cycles, _SHARED_CYCLES * used)
        costs.cycles += max(0.0, taken * access.delay_cycles - waits)
    slots = sum(_slots_of(line) for line in kernel.lines if line.line in {access.line for access in again})
    costs.slots = _TILE_SLOTS * slots
    costs.integer_slots = costs.slots * _share(_integer_slots_of(kernel, everything), _slots_of(everything))
    worst = max(again, key=lambda access: (access.requests, access.times or 0.0))
    of = f"each element of {worst.array}" if worst.array else "each element"
    yield costs.hint(
        worst.line,
        f"{of} is read {_number(worst.times or 0.0)} times from global memory ({worst.bytes:,} of "
        f"{worst.array_bytes:,} bytes)",
        "reuse",
        "Keep a tile in shared memory, and several results a thread in registers.",
        _others(worst.line, again),
        _TILE_WEIGHT,
    )


def _moved_again(kernel: KernelProfile, everything: KernelCounts) -> Iterator[Hint]:
    """Arrays that go through memory more than once."""
    for array in kernel.arrays:
        size = array.bytes * kernel.launches
        needed = size * (bool(array.read) + bool(array.written))
        # A kernel that asks for few of an array's bytes moves more for another reason.
        if not needed or array.moved < _AGAIN * needed or array.read < _AGAIN * size:
            continue
        costs = Costs(kernel, everything, dram_sectors=(array.moved - needed) / SECTOR_BYTES)
        line = max(
            (access for access in kernel.accesses if access.array == array.name and access.kind == "load"),
            key=lambda access: access.dram_sectors,
        ).line
        yield costs.hint(
            line,
            f"{array.name} goes {_number(array.moved / size)} times through memory ({array.moved:,} of {size:,} bytes)",
            "passes",
            "Read it once: keep it in registers or shared memory until it is needed again.",
        )


# ---- what else lines cost ----


def _conflicts(kernel: KernelProfile, everything: KernelCounts) -> Iterator[Hint]:
    found = [line for line in kernel.lines if line.shared_passes > _CONFLICTS * line.shared_ideal_passes]
    if not found:
        return
    costs = Costs(kernel, everything)
    for line in found:
        costs.passes += line.conflicts
        costs.cycles += min(line.conflicts, _cycles_of(kernel, everything, line))
    worst = max(found, key=lambda line: line.conflicts)
    yield costs.hint(
        worst.line,
        _conflicting(worst),
        "banks",
        "Shift the rows: declare one more column than is used.",
        _others(worst.line, found),
    )


def _cycles_of(kernel: KernelProfile, everything: KernelCounts, line: LineCounts) -> float:
    """Waiting and issuing."""
    if everything.delay_cycles:
        return line.delay_cycles + line.instructions
    waits = everything.stall_cycles + everything.instructions
    return waits * _share(line.instructions, everything.instructions) if kernel.bound == "latency" else 0.0


def _constants(kernel: KernelProfile, everything: KernelCounts) -> Iterator[Hint]:
    found = [line for line in kernel.lines if line.constant_passes > 2 * line.constant_requests]
    if found:
        worst = max(found, key=lambda line: line.constant_passes)
        lost = sum(line.constant_passes - line.constant_requests for line in found)
        costs = Costs(kernel, everything, passes=lost, cycles=lost)
        yield costs.hint(
            worst.line,
            f"a warp reads {worst.constant_passes / worst.constant_requests:.0f} addresses of constant memory at a "
            "time, one after the other: use it for values that all threads of a warp read",
            "constants",
            "Use shared or global memory for values that differ from thread to thread.",
            _others(worst.line, found),
        )


def _diverging(kernel: KernelProfile, everything: KernelCounts) -> Iterator[Hint]:
    """Instructions that a warp issues for some of its threads only."""
    warps = -(-kernel.threads // _WARP)
    full, blocks = kernel.threads / warps, kernel.launches * kernel.blocks
    lost: dict[int, float] = {}
    for line in kernel.lines:
        if line.instructions and line.active_threads < _FEW_THREADS * full / _WARP:
            # Packed into whole warps; each block needs one.
            needed = max(line.threads_on / full, min(line.instructions, blocks))
            lost[line.line] = line.instructions - needed
    lines = {line.line: line for line in kernel.lines if lost.get(line.line, 0.0) > 0}
    if not lines:
        return
    costs = Costs(kernel, everything)
    for number, line in lines.items():
        share = lost[number] / line.instructions
        costs.slots += share * _slots_of(line)
        costs.cycles += share * _cycles_of(kernel, everything, line)
    issue = 1 - _share(costs.slots, _slots_of(everything))
    costs.factors = {name: issue for name in kernel.terms_us if name.endswith(" units")}
    worst = max(lines.values(), key=lambda line: lost[line.line] * _slots_of(line) / line.instructions)
    branches = [line for line in kernel.lines if line.divergent_branches]
    at = (
        worst
        if worst.divergent_branches or not branches
        else max(branches, key=lambda it: it.divergent_branches)
    )
    where = "here" if at.line == worst.line else f"in line {worst.line}"
    yield costs.hint(
        at.line,
        f"{worst.active_threads:.1f} of a warp's 32 threads are active {where} on average, the others wait: let the "
        "threads of a warp take the same path",
        "divergence",
        "Choose the way by warp or block rather than by thread, or replace the branch by arithmetic.",
        _others(at.line, list(lines.values())),
    )


def _spilled(kernel: KernelProfile, everything: KernelCounts) -> Iterator[Hint]:
    if not everything.spill_requests:
        return
    costs = Costs(kernel, everything)
    costs.factors = {
        name: 1 - _share(us, kernel.terms_us.get(name, 0.0)) for name, us in kernel.spill_terms_us.items()
    }
    found = [line for line in kernel.lines if line.spill_requests]
    worst = max(found, key=lambda line: line.spill_requests, default=LineCounts(line=0))
    threads = kernel.launches * kernel.blocks * kernel.threads
    moved = 4 * _WARP * everything.spill_requests / threads
    yield costs.hint(
        worst.line,
        f"the registers do not suffice ({kernel.registers} a thread): {moved:,.0f} bytes a thread go to and from local "
        "memory",
        "spills",
        "Keep fewer values at a time, or allow more registers (__launch_bounds__, num_warps).",
        _others(worst.line, found),
    )


def _local(kernel: KernelProfile, everything: KernelCounts) -> Iterator[Hint]:
    found = [line for line in kernel.lines if line.local_requests]
    if not found or not kernel.accesses + kernel.arrays:
        return
    worst = max(found, key=lambda line: line.local_requests)
    l2 = max(0, everything.l2_sectors - sum(access.l2_sectors for access in kernel.accesses))
    dram = max(0, everything.dram_sectors - sum(access.dram_sectors for access in kernel.accesses))
    costs = Costs(
        kernel,
        everything,
        l1_lines=everything.local_sectors / _LINE_SECTORS,
        l2_sectors=l2,
        from_l2=l2,
        dram_sectors=dram,
        memory=everything.local_requests,
        cycles=kernel.stalls.get("local memory", 0),
    )
    threads = kernel.launches * kernel.blocks * kernel.threads
    moved = SECTOR_BYTES * everything.local_sectors / threads
    yield costs.hint(
        worst.line,
        f"an array of the thread is in local memory: {moved:,.0f} bytes a thread go to and from it",
        "local memory",
        "Only arrays whose every index is known to the compiler are registers: unroll the loop, or use shared memory.",
        _others(worst.line, found),
    )


def _dividing(kernel: KernelProfile, everything: KernelCounts) -> Iterator[Hint]:
    found = [line for line in kernel.lines if line.division_slots]
    if not found:
        return
    slots = everything.division_slots
    worst = max(found, key=lambda line: line.division_slots)
    bits = "64-bit integers" if any(_LONG_DIVISION.match(each.text) for each in worst.ptx) else "integers"
    costs = Costs(kernel, everything, slots=slots, integer_slots=slots)
    yield costs.hint(
        worst.line,
        f"{_share(slots, _slots_of(everything)):.0%} of the issue slots are divisions of {bits}",
        "division",
        "Count along instead, divide once ahead of the loop or by a constant, and use 32-bit integers if they suffice.",
        _others(worst.line, found),
    )


# ---- the launch's shape ----


def _in_flight(kernel: KernelProfile) -> float:
    """Warps of a multiprocessor at a time, as the grid allows."""
    warps = -(-kernel.threads // _WARP)
    return min(kernel.resident_warps, max(1.0, kernel.blocks / MULTIPROCESSORS) * warps)


def _of_multiprocessor(kernel: KernelProfile, factor: float) -> dict[str, float]:
    return {name: factor for name in kernel.terms_us if name not in _OF_THE_CARD}


def _occupancy(kernel: KernelProfile, everything: KernelCounts) -> Iterator[Hint]:
    if kernel.occupancy >= _LOW_OCCUPANCY or kernel.blocks <= MULTIPROCESSORS * kernel.resident_blocks:
        return
    per = {
        "registers": f", {kernel.registers} a thread",
        "shared memory": f", {kernel.shared_bytes:,} bytes a block",
        "blocks": f", of {kernel.threads} threads each",
    }
    warps = -(-kernel.threads // _WARP)
    most = min(MOST_WARPS, kernel.blocks * warps / MULTIPROCESSORS)
    wanted = min(most, 2 * kernel.resident_warps) if kernel.limiter == "registers" else most
    costs = Costs(kernel, everything, factors={"latency": min(1.0, kernel.resident_warps / wanted)})
    remedies = {
        "registers": "Keep fewer values at a time in a thread, or bound them (__launch_bounds__).",
        "shared memory": "Use smaller tiles, or more threads on each.",
        "blocks": "Use larger blocks.",
    }
    yield costs.hint(
        0,
        f"kernel {kernel.name}: a multiprocessor holds only {kernel.resident_warps} of {MOST_WARPS} warps at a time, "
        f"limited by {kernel.limiter}{per.get(kernel.limiter, '')}",
        "occupancy",
        remedies.get(kernel.limiter, ""),
    )


def _small_blocks(kernel: KernelProfile, everything: KernelCounts) -> Iterator[Hint]:
    threads, warps = kernel.threads, -(-kernel.threads // _WARP)
    rest, most = threads % _WARP, max(_BLOCK_THREADS, threads)
    if not rest and threads >= 2 * _WARP:
        return
    if kernel.blocks * threads <= _BLOCK_THREADS:
        return
    full = threads / (_WARP * warps)
    after = min(MOST_WARPS, max(1.0, kernel.blocks * threads / _WARP / MULTIPROCESSORS))
    factors = _of_multiprocessor(kernel, full)
    factors["blocks"] = threads / most
    factors["latency"] = min(1.0, full * _in_flight(kernel) / after)
    text = (
        f"a block of {threads} threads has a warp with only {rest}: use a multiple of 32"
        if rest
        else f"blocks of {threads} threads: {kernel.blocks:,} blocks begin one after the other"
    )
    yield Costs(kernel, everything, factors=factors).hint(
        0,
        f"kernel {kernel.name}: {text}",
        "small blocks",
        f"Use blocks of 128 to {_BLOCK_THREADS} threads.",
    )


def _little_work(kernel: KernelProfile, everything: KernelCounts) -> Iterator[Hint]:
    """Many blocks of enough threads, each of which does little."""
    accesses = [access for access in kernel.accesses if access.kind != "atomic"]
    elements = _elements(kernel) / kernel.blocks
    if kernel.threads < 2 * _WARP or not accesses or not elements:
        return
    # Until each thread has an element, and while blocks are left to run side by side.
    more = max(kernel.threads / elements, kernel.blocks / (2 * MULTIPROCESSORS * kernel.resident_blocks))
    more = min(_MORE_WORK, more, kernel.blocks / MULTIPROCESSORS)
    if more < 2:
        return
    stalled = kernel.stalls.get("global memory", 0) * (1 - 1 / more)
    costs = Costs(kernel, everything, cycles=stalled, factors={"blocks": 1 / more})
    bytes_each = sum(access.bytes for access in accesses) / (kernel.launches * kernel.blocks)
    yield costs.hint(
        0,
        f"kernel {kernel.name}: {kernel.blocks:,} blocks of {kernel.threads} threads that access {bytes_each:,.0f} "
        "bytes each: they begin one after the other, and each thread waits for few loads at a time",
        "little work",
        "Let each thread handle several elements: a larger BLOCK, vectors of four, or a loop over the grid.",
    )


def _few(kernel: KernelProfile, everything: KernelCounts) -> Iterator[Hint]:
    """A grid that does not fill the card."""
    threads = kernel.blocks * kernel.threads
    in_flight = _in_flight(kernel)
    if kernel.blocks >= MULTIPROCESSORS and in_flight >= _LOW_OCCUPANCY * kernel.resident_warps:
        return
    # Profiles of earlier versions do not say how many elements there are.
    elements = _elements(kernel) / threads if kernel.accesses else math.inf
    used = min(1.0, kernel.blocks / MULTIPROCESSORS)
    room = MOST_WARPS * MULTIPROCESSORS / max(used * MULTIPROCESSORS * in_flight, 1.0)
    more = min(elements, room)
    if more >= 2:
        factors = _of_multiprocessor(kernel, used / min(1.0, used * more))
        factors["latency"] = 1 / more
        remedy, weight = "Launch more threads, each with fewer elements.", _GRID_WEIGHT
    else:
        smaller = max(kernel.blocks, threads / (2 * _WARP))
        factors = _of_multiprocessor(kernel, used / min(1.0, smaller / MULTIPROCESSORS))
        remedy, weight = "Use smaller blocks, or split the work of each.", _SMALL_GRID_WEIGHT
    if kernel.blocks < MULTIPROCESSORS:
        are = "1 block" if kernel.blocks == 1 else f"{kernel.blocks} blocks"
        text = f"{are} for {MULTIPROCESSORS} multiprocessors: the others are idle"
    else:
        text = f"{threads:,} threads keep only {in_flight:.0f} of a multiprocessor's {MOST_WARPS} warps busy"
    yield Costs(kernel, everything, factors=factors).hint(
        0,
        f"kernel {kernel.name}: {text}",
        "few blocks",
        remedy,
        weight=weight,
    )


def _elements(kernel: KernelProfile) -> float:
    """Distinct elements that a launch reads or writes, of the array with most."""
    found = [
        min(access.threads, access.array_bytes * access.threads / access.bytes)
        for access in kernel.accesses
        if access.bytes and access.array_bytes
    ]
    return max(found, default=0.0) / kernel.launches


def _tail(kernel: KernelProfile, everything: KernelCounts) -> Iterator[Hint]:
    """The busiest multiprocessor works while others have finished."""
    if kernel.balance is None or kernel.balance > _UNBALANCED or kernel.blocks < MULTIPROCESSORS:
        return
    waves = kernel.blocks / (MULTIPROCESSORS * kernel.resident_blocks)
    factors = _of_multiprocessor(kernel, kernel.balance)
    if waves > 1:
        factors["latency"] = waves / math.ceil(waves)
    each, rest = divmod(kernel.blocks, MULTIPROCESSORS)
    even = each / (each + 1) if rest else 1.0
    text = (
        f"{kernel.blocks:,} blocks are {each} for each of {MULTIPROCESSORS} multiprocessors and {rest} more: while "
        f"these run, the others wait; on average {kernel.balance:.0%} work"
        if rest and kernel.balance > 0.9 * even
        else f"blocks take unequally long: on average {kernel.balance:.0%} of the multiprocessors work"
    )
    yield Costs(kernel, everything, factors=factors).hint(
        0,
        f"kernel {kernel.name}: {text}",
        "tail",
        f"Use more, smaller blocks, or a multiple of {MULTIPROCESSORS}; begin with the longest.",
    )


_ADVICE: tuple[Callable[[KernelProfile, KernelCounts], Iterator[Hint]], ...] = (
    _uncoalesced, _conflicts, _atomics, _constants, _diverging, _spilled, _local, _reused, _moved_again, _dividing,
    _occupancy, _small_blocks, _little_work, _few, _tail,
)  # fmt: skip


# ---- words ----


def _others(line: int, found: Sequence[LineCounts | AccessCounts]) -> tuple[int, ...]:
    return tuple(sorted({each.line for each in found} - {line, 0}))


def _conflicting(line: LineCounts) -> str:
    passes, ideal = (
        line.shared_passes / line.shared_requests,
        line.shared_ideal_passes / line.shared_requests,
    )
    step = line.shared_step
    if any(each.text.startswith(("atom.", "red.")) and ".shared" in each.text for each in line.ptx):
        why = "threads of a warp change the same words, one after the other"
    elif step is not None and step % 4 == 0:
        why = (
            f"neighbouring threads are {abs(step):,} bytes apart, so several use the same bank; padding a row by one "
            "element shifts them"
        )
    else:
        why = "several threads of a warp use the same bank"
    return f"{_number(passes)} passes per access to shared memory, ideally {_number(ideal)}: {why}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or abs(value - round(value)) < 0.05 else f"{value:.1f}"


def totals(counts: KernelCounts) -> Iterator[tuple[str, str]]:
    """Without zeros."""
    yield "warp instructions", f"{counts.instructions:,}"
    yield "active threads", f"{counts.active_threads:.1f} of 32"
    yield "divergent branches", f"{counts.divergent_branches:,}"
    for name, kind in (("loads", "load"), ("stores", "store"), ("atomics", "atomic")):
        if requests := getattr(counts, f"{kind}_requests"):
            sectors = getattr(counts, f"{kind}_sectors")
            yield name, f"{requests:,} requests, {sectors / requests:.1f} sectors each"
    if counts.atomic_requests:
        turns = counts.atomic_turns / counts.atomic_requests
        yield "atomics on one address", f"{turns:.1f} turns each"
    if counts.shared_requests:
        yield (
            "shared memory",
            f"{counts.shared_requests:,} requests, {counts.shared_passes:,} passes, {counts.conflicts:,} of them "
            "conflicts",
        )
    if counts.local_requests:
        yield "local memory", f"{counts.local_requests:,} requests"
    if counts.spill_requests:
        yield "spilled registers", f"{counts.spill_requests:,} requests, {128 * counts.spill_requests:,} B"
    yield "L2 traffic", f"{counts.l2_bytes:,} B"
    yield "DRAM traffic", f"{counts.dram_bytes:,} B"


def gain_text(hint: Hint, profile: CallProfile) -> str:
    """``about 20.2 µs less (77 %)``."""
    return f"about {duration(hint.us)} less ({hint.us / profile.time_us:.0%})"


def waits(kernel: KernelProfile) -> list[tuple[str, float]]:
    """Reasons and shares, the longest first."""
    whole = sum(kernel.stalls.values())
    return [(reason, cycles / whole) for reason, cycles in kernel.stalls.items() if cycles >= _WORTH * whole]


def bytes_text(kernel: KernelProfile) -> str:
    """Bytes through memory against those of each array once; empty if its arrays are unknown."""
    needed = kernel.launches * sum(
        array.bytes * (bool(array.read) + bool(array.written)) for array in kernel.arrays
    )
    if not needed:
        return ""
    moved = sum(array.moved for array in kernel.arrays)
    return f"{size_text(moved)} through memory; every array once is {size_text(needed)} ({moved / needed:.2f} times)"


def local_text(kernel: KernelProfile) -> str:
    """To and from local memory; empty if nothing."""
    total = kernel.total
    if not total.local_bytes:
        return ""
    spilled = " of spilled registers" if not total.local_requests else ""
    return f"{kernel.local_bytes_a_thread:,.0f} bytes a thread to and from local memory{spilled}"


def shown_lines(profile: CallProfile, count: int) -> list[int]:
    """Those with counts, and a few around them."""
    near = {line + away for line in profile.by_line if line for away in range(-_AROUND, _AROUND + 1)}
    return sorted(line for line in near if 1 <= line <= count)
