"""Profiles for ``templates/report/call_profile.html``: bars, and counts by line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader import limits
from grader.schemas.call_profile import MOST_WARPS, CallProfile, KernelProfile, LineCounts
from grader.schemas.profile_advice import Hint, bound_sentence, hints_of, shown_lines, totals
from grader.schemas.report import WorkloadReport
from grader.web.pages.code import lines
from grader.web.pages.plots import Bar

# Of the stacked bar: report.css has as many styles.
_LOOKS = 6
# Drawn bounds of a kernel; the others are far from the longest.
_MOST_TERMS = 6
# A line's cell is marked from these values on: above the ideal, or below a warp's 32 threads.
_SCATTERED, _CONFLICTS, _FEW_THREADS = 1.5, 1.25, 24


@dataclass(frozen=True)
class Part:
    """Of the stacked bar: ``start`` and ``width`` in percent; ``look``: its number in report.css, from 1."""

    label: str
    us: float
    start: float
    width: float
    look: int


@dataclass(frozen=True)
class KernelView:
    kernel: KernelProfile
    shape: str
    bars: list[Bar]

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
    """A line of the source; ``counts`` is None if it does nothing. ``heat``: percent of the instructions and waits
    of the busiest line. ``gap``: lines before it are left out."""

    number: int
    text: str
    counts: LineCounts | None
    heat: float
    gap: bool

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
        return self.counts is not None and 0 < self.counts.threads_per_instruction < _FEW_THREADS


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


def profile_views(workloads: Sequence[WorkloadReport], source: str) -> list[ProfileView]:
    return [_view(each, each.profile, source) for each in workloads if each.profile is not None]


def _view(workload: WorkloadReport, profile: CallProfile, source: str) -> ProfileView:
    return ProfileView(
        workload=workload,
        profile=profile,
        bound=bound_sentence(profile),
        parts=_parts(profile.parts_us),
        kernels=[KernelView(kernel, _shape(kernel), _bars(kernel)) for kernel in profile.kernels],
        totals=list(totals(profile.total)),
        hints=hints_of(profile),
        rows=_rows(profile, lines(source)[: limits.LISTED_LINES]),
    )


def _parts(parts_us: Mapping[str, float]) -> list[Part]:
    whole, start, found = sum(parts_us.values()), 0.0, []
    for number, (label, us) in enumerate(parts_us.items()):
        width = 100 * us / whole
        found.append(Part(label, us, round(start, 2), round(width, 2), number % _LOOKS + 1))
        start += width
    return found


def _shape(kernel: KernelProfile) -> str:
    grid, block = (" × ".join(f"{size:,}" for size in sizes) for sizes in (kernel.grid, kernel.block))
    return f"grid {grid}, block {block}"


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


def _rows(profile: CallProfile, source: Sequence[str]) -> list[SourceRow]:
    counts, found, last = profile.by_line, [], 0
    most = max((_work(entry) for line, entry in counts.items() if line), default=0)
    for number in shown_lines(profile, len(source)):
        own = counts.get(number)
        heat = round(100 * _work(own) / most, 1) if own is not None and most else 0.0
        found.append(SourceRow(number, source[number - 1], own, heat, gap=number != last + 1))
        last = number
    return found


def _work(counts: LineCounts) -> int:
    return counts.instructions + counts.stall_cycles
