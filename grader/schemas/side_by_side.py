"""Two profiles of one workload side by side: counters, the largest difference, and its explanation."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from pydantic import Field

from grader.formats import duration, size_text
from grader.schemas.call_profile import CallProfile, KernelCounts
from grader.schemas.profile_advice import Hint, bound_words, hints_of
from grader.schemas.strict import Strict

# Smaller differences are not marked; closer times are about the same.
_MARKED = 1.25
_SAME_TIME = 1.03
# Counters with a smaller difference explain nothing.
_TELLS = 1.1
# An advice explains a difference of times if it gains this share of it.
_EXPLAINS = 0.4


class Counter(Strict):
    """One counter of both."""

    name: str
    texts: tuple[str, str]
    factor: float | None = Field(
        default=None, description="the larger / the smaller; null if one is 0 or unknown"
    )
    worse: Literal[0, 1] | None = Field(
        default=None, description="the side on which it costs more; null if the difference is small"
    )
    largest: bool = Field(default=False, description="no other counter differs more")

    @property
    def times(self) -> str:
        """``3.1 times``; empty if the difference is small."""
        return "" if self.worse is None or self.factor is None else f"{_short(self.factor)} times"


class SideBySide(Strict):
    counters: list[Counter]
    sentence: str = Field(description="what explains the times")
    slower: Literal[0, 1] = 0
    line: int = Field(default=0, description="of the slower one's source, which the sentence names; 0: none")


def comparable(one: CallProfile | None, other: CallProfile | None) -> str:
    """Why they cannot be compared; empty if they can."""
    if one is None or other is None:
        return "Only kernels that the emulated GPU timed have counters."
    if (one.card, one.model) != (other.card, other.model):
        return "They were counted by two versions of the model. Submit the older one again to compare their counters."
    return ""


def side_by_side(profiles: tuple[CallProfile, CallProfile], names: tuple[str, str]) -> SideBySide:
    """``names``: in the sentence, such as "your kernel"."""
    rows = [row for measure in _MEASURES for row in measure(profiles)]
    differing = [row for row in rows if row.worse is not None]
    most = max(differing, key=lambda row: row.factor or math.inf, default=None)
    slow: Literal[0, 1] = 0 if profiles[0].time_us >= profiles[1].time_us else 1
    sentence, line = _explained((profiles[slow], profiles[1 - slow]), (names[slow], names[1 - slow]))
    return SideBySide(
        counters=[row.model_copy(update={"largest": row is most}) for row in rows],
        sentence=sentence,
        slower=slow,
        line=line,
    )


# ---- counters ----


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or abs(value - round(value)) < 0.05 else f"{value:.1f}"


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def _bytes(value: float) -> str:
    return size_text(int(value)) if value else "none"


def _counter(
    name: str, values: tuple[float, float], texts: tuple[str, str], *, more_is_worse: bool = True
) -> Counter:
    one, other = values
    if one == other:
        return Counter(name=name, texts=texts, factor=1.0)
    low, high = sorted(values)
    factor = high / low if low > 0 else None
    if factor is not None and factor < _MARKED:
        return Counter(name=name, texts=texts, factor=factor)
    return Counter(name=name, texts=texts, factor=factor, worse=0 if (one > other) is more_is_worse else 1)


Measure = Callable[[tuple[CallProfile, CallProfile]], Sequence[Counter]]


def _of_totals(
    name: str,
    value: Callable[[KernelCounts], float | None],
    text: Callable[[float], str],
    *,
    more_is_worse: bool = True,
) -> Measure:
    """Empty if neither has any. One without any has "–", and is not compared."""

    def measure(profiles: tuple[CallProfile, CallProfile]) -> Sequence[Counter]:
        one, other = (value(profile.total) for profile in profiles)
        if not one and not other:
            return []
        texts = ("–" if one is None else text(one), "–" if other is None else text(other))
        if one is None or other is None:
            return [Counter(name=name, texts=texts)]
        return [_counter(name, (one, other), texts, more_is_worse=more_is_worse)]

    return measure


def _against_ideal(
    name: str,
    each: Callable[[KernelCounts], float | None],
    of_ideal: Callable[[KernelCounts], tuple[int, int]],
) -> Measure:
    """``each``: of a request; ``of_ideal``: the count, and the least possible. Compared by their ratio: a
    wide load needs more sectors than a narrow one.
    """

    def measure(profiles: tuple[CallProfile, CallProfile]) -> Sequence[Counter]:
        totals = [profile.total for profile in profiles]
        found = [each(total) for total in totals]
        if found == [None, None]:
            return []
        pairs = [of_ideal(total) for total in totals]
        texts = [
            "–"
            if value is None
            else _short(value) + (f", ideally {_short(value * ideal / count)}" if count else "")
            for value, (count, ideal) in zip(found, pairs, strict=True)
        ]
        if None in found or not all(ideal for _, ideal in pairs):
            return [Counter(name=name, texts=(texts[0], texts[1]))]
        over = [count / ideal for count, ideal in pairs]
        return [_counter(name, (over[0], over[1]), (texts[0], texts[1]))]

    return measure


def _global(counts: KernelCounts) -> tuple[int, int]:
    """Sectors of loads, stores and atomics, whose least is unknown."""
    ideal = counts.load_ideal_sectors + counts.store_ideal_sectors + counts.atomic_sectors
    return counts.sectors, ideal


def _moved(profiles: tuple[CallProfile, CallProfile]) -> Sequence[Counter]:
    found = [profile.total.dram_bytes for profile in profiles]
    texts = [_moved_text(profile) for profile in profiles]
    return [_counter("Bytes through memory", (found[0], found[1]), (texts[0], texts[1]))]


def _moved_text(profile: CallProfile) -> str:
    needed = _needed(profile)
    return _bytes(profile.total.dram_bytes) + (f"; every array once is {_bytes(needed)}" if needed else "")


def _needed(profile: CallProfile) -> int:
    """Bytes of each array once, over all kernels; 0 if unknown. Names need not be unique, so sizes count."""
    sizes: dict[tuple[str, int], int] = {}
    for kernel in profile.kernels:
        for array in kernel.arrays:
            asked = array.bytes * (bool(array.read) + bool(array.written))
            key = (array.name, array.bytes)
            sizes[key] = max(sizes.get(key, 0), asked)
    return sum(sizes.values())


def _occupancy(profiles: tuple[CallProfile, CallProfile]) -> Sequence[Counter]:
    """Of the kernel that takes longest."""
    kernels = [profile.kernels[0] if profile.kernels else None for profile in profiles]
    one, other = kernels
    if one is None or other is None:
        return []
    texts = [f"{kernel.occupancy:.0%}, limited by {kernel.limiter}" for kernel in (one, other)]
    registers = [
        "not known" if kernel.registers is None else str(kernel.registers) for kernel in (one, other)
    ]
    return [
        _counter("Occupancy", (one.occupancy, other.occupancy), (texts[0], texts[1]), more_is_worse=False),
        Counter(name="Registers a thread", texts=(registers[0], registers[1])),
        Counter(name="Shared memory a block", texts=(f"{one.shared_bytes:,} B", f"{other.shared_bytes:,} B")),
    ]  # fmt: skip


def _launches(profiles: tuple[CallProfile, CallProfile]) -> Sequence[Counter]:
    one, other = (_launched(profile) for profile in profiles)
    return [_counter("Launches", (one, other), (f"{one:,}", f"{other:,}"))]


def _launched(profile: CallProfile) -> int:
    return sum(kernel.launches for kernel in profile.kernels) + profile.left_out


_MEASURES: tuple[Measure, ...] = (
    _against_ideal("Sectors a request", lambda counts: counts.sectors_per_request, _global),
    _moved,
    _of_totals("Bytes from and to the L2 cache", lambda counts: counts.l2_bytes, _bytes),
    _against_ideal(
        "Bank passes a request",
        lambda counts: counts.passes_per_request,
        lambda counts: (counts.shared_passes, counts.shared_ideal_passes),
    ),
    _of_totals(
        "Active lanes of 32",
        lambda counts: counts.active_threads or None,
        lambda value: f"{value:.1f}",
        more_is_worse=False,
    ),
    _of_totals("Warp instructions", lambda counts: counts.instructions, _whole),
    _of_totals("Turns of atomics", lambda counts: counts.atomic_turns, _whole),
    _of_totals("Bytes from and to local memory", lambda counts: counts.local_bytes, _bytes),
    _occupancy,
    _launches,
)  # fmt: skip


# ---- what explains the times ----


def _explained(profiles: tuple[CallProfile, CallProfile], names: tuple[str, str]) -> tuple[str, int]:
    """A sentence, and the line of the slower kernel that it names. The slower one comes first."""
    slower, faster = profiles
    if not faster.time_us or slower.time_us / faster.time_us < _SAME_TIME:
        return f"Both take about as long: {duration(slower.time_us)} and {duration(faster.time_us)}.", 0
    factor = slower.time_us / faster.time_us
    ratio = f"{_short(factor)} times as long as" if factor >= 1.5 else f"{factor - 1:.0%} longer than"
    said = f"{names[0][:1].upper()}{names[0][1:]} takes {ratio} {names[1]}"
    if (hint := _behind(slower, faster)) is None:
        return _by_bound(said, slower, faster, names[1]), 0
    apart = slower.time_us - faster.time_us
    cost = f"costs it about {duration(min(hint.us, apart))} of the {duration(apart)} between them"
    if hint.line:
        return f"{said} because of line {hint.line} ({_within(hint.text)}), which {cost}.", hint.line
    kernel, _, why = hint.text.partition(": ")
    what, why = (kernel, why) if kernel.startswith("kernel ") and why else ("its launches", hint.text)
    return f"{said} because of {what} ({_within(why)}), which {cost}.", 0


def _within(text: str) -> str:
    """For use in brackets."""
    return text.replace(" (", ", ").replace(")", "")


def _behind(slower: CallProfile, faster: CallProfile) -> Hint | None:
    """The cost that only the slower one has, if it explains enough of the difference."""
    theirs: dict[str, float] = {}
    for hint in hints_of(faster):
        theirs[hint.kind] = theirs.get(hint.kind, 0.0) + hint.us
    enough = _EXPLAINS * (slower.time_us - faster.time_us)
    more = {hint.us - theirs.get(hint.kind, 0.0): hint for hint in hints_of(slower)}
    most = max(more, default=0.0)
    return more[most] if more and most >= enough else None


def _by_bound(said: str, slower: CallProfile, faster: CallProfile, other: str) -> str:
    """By the resource that the slower one waits for."""
    parts, others = slower.parts_us, faster.parts_us
    cause = max(parts, key=lambda name: parts[name] - others.get(name, 0.0), default="")
    if not cause:
        return f"{said}."
    needs = _of_cause(faster, cause)
    theirs = f", which {other} does in {duration(needs)}" if 0 < needs < parts[cause] else ""
    said = f"{said}: {duration(parts[cause])} of its time {_verb(cause)} {bound_words(cause)}{theirs}"
    evidence = _evidence(cause, slower, faster)
    return f"{said}{f' ({evidence})' if evidence else ''}."


def _verb(cause: str) -> str:
    return "are" if cause != "launches" else "is"


def _of_cause(profile: CallProfile, cause: str) -> float:
    """Microseconds, even if the cause does not limit it."""
    if cause in ("launches", "copies", "other kernels"):
        return profile.parts_us.get(cause, 0.0)
    return profile.terms_us.get(cause, 0.0)


def _evidence(cause: str, slower: CallProfile, faster: CallProfile) -> str:
    """``6.4 MB against 1.2 MB``, the slower one's first; may be empty."""
    measure = _BEHIND.get(cause) or (_BEHIND["instruction issue"] if "units" in cause else None)
    if measure is None:
        return ""
    name, value, text = measure
    one, other = value(slower), value(faster)
    if not one or one < _TELLS * other:
        return ""
    return f"{name}: {text(one)} against {text(other)}"


def _warps(profile: CallProfile) -> float:
    """Cycles of waiting and issuing per resident warp."""
    kernel = profile.kernels[0]
    return (kernel.total.stall_cycles + kernel.total.instructions) / kernel.resident_warps


_Behind = tuple[str, Callable[[CallProfile], float], Callable[[float], str]]
_BEHIND: Mapping[str, _Behind] = {
    "DRAM": ("bytes through memory", lambda profile: profile.total.dram_bytes, _bytes),
    "L2": ("bytes from and to the L2 cache", lambda profile: profile.total.l2_bytes, _bytes),
    "L2 to a multiprocessor": (
        "bytes from and to the L2 cache",
        lambda profile: profile.total.l2_bytes,
        _bytes,
    ),
    "L1 lines": ("lines of 128 bytes", lambda profile: profile.total.l1_lines, _whole),
    "shared memory": ("bank passes", lambda profile: profile.total.shared_passes, _whole),
    "memory units": (
        "requests",
        lambda profile: profile.total.requests + profile.total.shared_requests,
        _whole,
    ),
    "instruction issue": ("warp instructions", lambda profile: profile.total.instructions, _whole),
    "atomics on one address": ("turns of atomics", lambda profile: profile.total.atomic_turns, _whole),
    "blocks": (
        "blocks",
        lambda profile: sum(kernel.blocks * kernel.launches for kernel in profile.kernels),
        _whole,
    ),
    "latency": ("cycles of waiting for each resident warp", _warps, _whole),
    "launches": ("launches", lambda profile: float(_launched(profile)), _whole),
    "copies": ("bytes copied", lambda profile: profile.copied_bytes, _bytes),
}
