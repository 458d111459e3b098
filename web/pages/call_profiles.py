"""Profiles for ``templates/report/call_profile.html``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from grader import limits
from grader.schemas.call_profile import MOST_WARPS, CallProfile, KernelProfile, LineCounts
from grader.schemas.profile_advice import (
    Hint,
    bound_sentence,
    bytes_text,
    gain_text,
    hints_of,
    local_text,
    shown_lines,
    totals,
    waits,
)
from grader.schemas.report import WorkloadReport
from grader.web.pages.code import lines
from grader.web.pages.plots import Bar

# report.css has as many styles.
_LOOKS = 6
# Shown per kernel; others are far from the longest.
_MOST_TERMS = 6
# Above the ideal, or below a warp's 32 threads.
_SCATTERED, _CONFLICTS, _FEW_THREADS = 1.5, 1.25, 24


@dataclass(frozen=True)
class Part:
    """Percent of the bar; ``look``: style in report.css, from 1."""

    label: str
    us: float
    start: float
    width: float
    look: int


@dataclass(frozen=True)
class Launch:
    """Percent of the time line; ``track``: its kernel, from 0."""

    start: float
    width: float
    track: int
    look: int


@dataclass(frozen=True)
class Track:
    """A kernel on the time line; ``us``: its first launch."""

    label: str
    count: int
    us: float
    look: int


@dataclass(frozen=True)
class KernelView:
    kernel: KernelProfile
    shape: str
    bars: list[Bar]
    waits: list[tuple[str, float]]
    bytes: str
    local: str

    @property
    def occupancy(self) -> str:
        kernel = self.kernel
        blocks = "1 block" if kernel.resident_blocks == 1 else f"{kernel.resident_blocks} blocks"
        return (
            f"{blocks} with {kernel.resident_warps} of {MOST_WARPS} warps at a time on a multiprocessor "
            f"({kernel.occupancy:.0%}), limited by {kernel.limiter}"
        )


@dataclass(frozen=True)
class SourceRow:
    """``counts`` None: it does nothing. ``heat``: percent of the busiest line. ``gap``: lines left out before.
    ``waited``: percent of all waits."""

    number: int
    text: str
    counts: LineCounts | None
    heat: float
    gap: bool
    waited: float = 0.0
    hinted: bool = False

    @property
    def scattered(self) -> bool:
        counts = self.counts
        return counts is not None and any(
            got > _SCATTERED * ideal
            for got, ideal in (
                (counts.load_sectors, counts.load_ideal_sectors),
                (counts.store_sectors, counts.store_ideal_sectors),
            )
        )

    @property
    def conflicting(self) -> bool:
        return (
            self.counts is not None
            and self.counts.shared_passes > _CONFLICTS * self.counts.shared_ideal_passes
        )

    @property
    def diverging(self) -> bool:
        return (
            self.counts is not None
            and self.counts.instructions > 0
            and self.counts.active_threads < _FEW_THREADS
        )


@dataclass(frozen=True)
class ProfileView:
    workload: WorkloadReport
    profile: CallProfile
    bound: str
    parts: list[Part]
    kernels: list[KernelView]
    totals: list[tuple[str, str]]
    hints: list[Hint]
    rows: list[SourceRow]
    launches: list[Launch]
    tracks: list[Track]

    def gain(self, hint: Hint) -> str:
        return gain_text(hint, self.profile)


def profile_views(workloads: Sequence[WorkloadReport], source: str) -> list[ProfileView]:
    return [_view(each, each.profile, source) for each in workloads if each.profile is not None]


def _view(workload: WorkloadReport, profile: CallProfile, source: str) -> ProfileView:
    hints = hints_of(profile)
    launches, tracks = _timeline(profile)
    return ProfileView(
        workload=workload,
        profile=profile,
        bound=bound_sentence(profile),
        parts=_parts(profile.parts_us),
        kernels=[
            KernelView(
                kernel, _shape(kernel), _bars(kernel), waits(kernel), bytes_text(kernel), local_text(kernel)
            )
            for kernel in profile.kernels
        ],
        totals=list(totals(profile.total)),
        hints=hints,
        rows=_rows(profile, lines(source)[: limits.LISTED_LINES], {hint.line for hint in hints}),
        launches=launches,
        tracks=tracks,
    )


def _timeline(profile: CallProfile) -> tuple[list[Launch], list[Track]]:
    """Empty for a single launch."""
    if len(profile.timeline) < 2:
        return [], []
    whole = profile.timeline[-1].start_us + profile.timeline[-1].time_us
    order = list(dict.fromkeys(launched.kernel for launched in profile.timeline))
    launches = [
        Launch(
            start=round(100 * launched.start_us / whole, 2),
            width=max(0.2, round(100 * launched.time_us / whole - 0.1, 2)),
            track=order.index(launched.kernel),
            look=order.index(launched.kernel) % _LOOKS + 1,
        )
        for launched in profile.timeline
    ]
    tracks = [
        Track(
            label=profile.kernels[kernel].name,
            count=profile.kernels[kernel].launches,
            us=next(launched.start_us for launched in profile.timeline if launched.kernel == kernel),
            look=number % _LOOKS + 1,
        )
        for number, kernel in enumerate(order)
    ]
    return launches, tracks


def _parts(parts_us: Mapping[str, float]) -> list[Part]:
    whole, start, found = sum(parts_us.values()), 0.0, []
    for number, (label, us) in enumerate(parts_us.items()):
        width = 100 * us / whole
        found.append(Part(label, us, round(start, 2), round(width, 2), number % _LOOKS + 1))
        start += width
    return found


def _shape(kernel: KernelProfile) -> str:
    grid, block = (" × ".join(f"{size:,}" for size in sizes) for sizes in (kernel.grid, kernel.block))
    return f"grid {grid}{kernel.counted_text}, block {block}"


def _bars(kernel: KernelProfile) -> list[Bar]:
    terms = sorted(kernel.terms_us.items(), key=lambda term: (-term[1], term[0]))[:_MOST_TERMS]
    longest = terms[0][1] if terms else 0.0
    return [
        Bar(
            name,
            us,
            max(1.0, round(100 * us / longest, 2)) if longest else 1.0,
            "own" if number == 0 else "base",
        )
        for number, (name, us) in enumerate(terms)
    ]


def _rows(profile: CallProfile, source: Sequence[str], hinted: Set[int]) -> list[SourceRow]:
    counts, found, last = profile.by_line, [], 0
    waited = sum(entry.waited_for for entry in counts.values())
    most = max((_work(entry) for line, entry in counts.items() if line), default=0)
    for number in shown_lines(profile, len(source)):
        own = counts.get(number)
        heat = round(100 * _work(own) / most, 1) if own is not None and most else 0.0
        share = 100 * own.waited_for / waited if own is not None and waited else 0.0
        found.append(
            SourceRow(number, source[number - 1], own, heat, number != last + 1, share, number in hinted)
        )
        last = number
    return found


def _work(counts: LineCounts) -> int:
    return counts.instructions + counts.stall_cycles
