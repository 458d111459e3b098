"""Advice from a profile: the limit and the largest costs of a call in sentences, totals, and lines to show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from grader.schemas.call_profile import (
    MOST_WARPS,
    MULTIPROCESSORS,
    CallProfile,
    KernelCounts,
    KernelProfile,
    LineCounts,
)

# Nobody reads more hints.
MOST_HINTS = 8
# Smaller shares of a call's time are not worth a sentence.
_WORTH = 0.01
# Lines without counts to show around those with counts.
_AROUND = 2
# Accesses beyond this factor of the ideal are worth a sentence.
_SCATTERED = 1.5
_CONFLICTS = 1.25
# Fewer active threads per warp on average are worth a sentence.
_FEW_THREADS = 24
_WARP = 32
# So is a lower share of resident warps.
_LOW_OCCUPANCY = 0.5
_MEMORY = ("L1 lines", "L2", "DRAM")
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


@dataclass(frozen=True)
class Hint:
    """Advice on one line or on the whole call."""

    # Of the source, from 1; 0: none.
    line: int
    text: str
    # Upper bound of its cost by the model, microseconds.
    us: float

    @property
    def sentence(self) -> str:
        return f"Line {self.line}: {self.text}" if self.line else self.text[0].upper() + self.text[1:]


def bound_sentence(profile: CallProfile) -> str:
    """What limits the whole call."""
    if not profile.parts_us:
        return "It launches nothing and copies nothing."
    name, us = max(profile.parts_us.items(), key=lambda part: part[1])
    what = _BOUNDS.get(name) or (name if "units" not in name else f"instructions for the {name}")
    return (
        f"{us / profile.time_us:.0%} of the time is {what} ({name})." if what != name else f"{name} decide."
    )


def hints_of(profile: CallProfile) -> list[Hint]:
    """The costliest first."""
    found = [hint for kernel in profile.kernels for hint in _of_kernel(kernel)]
    launching = sum(kernel.launch_us for kernel in profile.kernels)
    launches = sum(kernel.launches for kernel in profile.kernels)
    if launches > 1 and launching > 0.5 * profile.time_us:
        found.append(
            Hint(
                0, f"{launches} launches cost {launching:.1f} µs by themselves: do more per launch", launching
            )
        )
    worth = [hint for hint in found if hint.us >= _WORTH * profile.time_us]
    return sorted(worth, key=lambda hint: (-hint.us, hint.line, hint.text))[:MOST_HINTS]


def _of_kernel(kernel: KernelProfile) -> Iterator[Hint]:
    yield from _of_shape(kernel)
    everything = kernel.total
    memory_us = max((kernel.terms_us.get(name, 0.0) for name in _MEMORY), default=0.0)
    for line in kernel.lines:
        lost = 0
        for verb, kind in (("reads", "load"), ("writes", "store")):
            lost = _lost(line, kind)
            if lost:
                yield Hint(
                    line.line,
                    _scattered(line, kind, verb),
                    _latency_too(kernel, memory_us) * lost / everything.sectors,
                )
        if line.shared_passes > _CONFLICTS * line.shared_ideal_passes:
            us = _latency_too(kernel, kernel.terms_us.get("shared memory", 0.0))
            yield Hint(line.line, _conflicting(line), us * line.conflicts / everything.shared_passes)
        if line.atomic_turns > 2 * line.atomic_requests:
            turns = line.atomic_turns / line.atomic_requests
            us = kernel.terms_us.get("atomics on one address", 0.0)
            yield Hint(
                line.line,
                f"{turns:.0f} threads of a warp change one address, one after the other: add up within a warp or block "
                "first, and let one thread change it",
                us * line.atomic_turns / everything.atomic_turns,
            )
        if line.constant_passes > 2 * line.constant_requests:
            passes = line.constant_passes / line.constant_requests
            us = kernel.terms_us.get("shared memory", 0.0)
            yield Hint(
                line.line,
                f"a warp reads {passes:.0f} addresses of constant memory at a time, one after the other: use it for "
                "values that all threads of a warp read",
                us,
            )
        if line.threads_per_instruction < _FEW_THREADS and line.instructions:
            idle = 1 - line.threads_per_instruction / _WARP
            us = _latency_too(kernel, kernel.terms_us.get("instruction issue", 0.0))
            yield Hint(
                line.line,
                f"{line.threads_per_instruction:.1f} of a warp's 32 threads are active here on average, the others "
                "wait: let the threads of a warp take the same path",
                us * idle * line.instructions / everything.instructions,
            )


def _of_shape(kernel: KernelProfile) -> Iterator[Hint]:
    own = kernel.time_us - kernel.launch_us
    threads, blocks, name = _product(kernel.block), _product(kernel.grid), f"kernel {kernel.name}"
    if kernel.occupancy < _LOW_OCCUPANCY and blocks > MULTIPROCESSORS * kernel.resident_blocks:
        per = {
            "registers": f", {kernel.registers} a thread,",
            "shared memory": f", {kernel.shared_bytes:,} bytes a block,",
            "blocks": f", of {threads} threads each,",
        }
        limiter = f"{kernel.limiter}{per.get(kernel.limiter, '')}"
        yield Hint(
            0,
            f"{name}: a multiprocessor holds only {kernel.resident_warps} of {MOST_WARPS} warps at a time, limited by "
            f"{limiter.rstrip(',')}",
            own * (1 - kernel.occupancy) if kernel.bound == "latency" else 0.0,
        )
    if blocks < MULTIPROCESSORS:
        are = "1 block" if blocks == 1 else f"{blocks} blocks"
        yield Hint(
            0,
            f"{name}: {are} for {MULTIPROCESSORS} multiprocessors: the others are idle",
            own * (1 - blocks / MULTIPROCESSORS),
        )
    if rest := threads % _WARP:
        yield Hint(
            0,
            f"{name}: a block of {threads} threads has a warp with only {rest}: use a multiple of 32",
            own * (1 - threads / (threads - rest + _WARP)),
        )


def _latency_too(kernel: KernelProfile, us: float) -> float:
    """If latency is the limit, waiting is part of the critical chain, so it counts."""
    return kernel.terms_us["latency"] if kernel.bound == "latency" else us


def _lost(line: LineCounts, kind: str) -> int:
    """Sectors beyond the ideal, or 0 if they are not worth a sentence."""
    sectors, ideal = getattr(line, f"{kind}_sectors"), getattr(line, f"{kind}_ideal_sectors")
    return int(sectors - ideal) if sectors > _SCATTERED * ideal else 0


def _scattered(line: LineCounts, kind: str, verb: str) -> str:
    requests = getattr(line, f"{kind}_requests")
    sectors, ideal = (
        getattr(line, f"{kind}_sectors") / requests,
        getattr(line, f"{kind}_ideal_sectors") / requests,
    )
    step = getattr(line, f"{kind}_step")
    why = (
        f"neighbouring threads {'read' if kind == 'load' else 'write'} {abs(step):,} bytes apart"
        if step is not None
        else f"the elements that a warp {verb} are scattered"
    )
    return f"{_number(sectors)} sectors per request, ideally {_number(ideal)}: {why}"


def _conflicting(line: LineCounts) -> str:
    passes, ideal = (
        line.shared_passes / line.shared_requests,
        line.shared_ideal_passes / line.shared_requests,
    )
    step = line.shared_step
    why = (
        f"neighbouring threads are {abs(step):,} bytes apart, so several use the same bank; padding a row by one "
        "element shifts them"
        if step is not None and step % 4 == 0
        else "several threads of a warp use the same bank"
    )
    return f"{_number(passes)} passes per access to shared memory, ideally {_number(ideal)}: {why}"


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value - round(value)) < 0.05 else f"{value:.1f}"


def _product(sizes: tuple[int, int, int]) -> int:
    return sizes[0] * sizes[1] * sizes[2]


def totals(counts: KernelCounts) -> Iterator[tuple[str, str]]:
    """Name and value of each total that is not zero."""
    yield "warp instructions", f"{counts.instructions:,}"
    yield "active threads", f"{counts.threads_per_instruction:.1f} of 32"
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
    yield "L2 traffic", f"{counts.l2_bytes:,} B"
    yield "DRAM traffic", f"{counts.dram_bytes:,} B"


def shown_lines(profile: CallProfile, count: int) -> list[int]:
    """Lines to show of a source with ``count`` lines: those with counts, and a few around them."""
    near = {line + away for line in profile.by_line if line for away in range(-_AROUND, _AROUND + 1)}
    return sorted(line for line in near if 1 <= line <= count)
