from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader.cli.report import sizes_text, whole
from grader.cli.terminal import out, safe
from grader.formats import duration, size_text
from grader.schemas.call_profile import MOST_WARPS, CallProfile, KernelProfile, LineCounts
from grader.schemas.profile_advice import (
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

_WIDEST_SOURCE = 100
# Further terms are far from limiting a kernel.
_MOST_TERMS = 5
_COLUMNS = ("instr", "active", "sect/req", "DRAM", "passes", "waited")
_MOST_LAUNCHES = 8


def put_profile(
    workload: WorkloadReport, source: str, console: Console | None = None, *, ptx: bool = False
) -> None:
    """``ptx``: PTX instructions below each line."""
    profile, console = workload.profile, console or out()
    assert profile is not None
    console.print(Text.assemble("\n", safe(workload.name, "bold"), f"  {sizes_text(workload.sizes)}"))
    parts = ", ".join(f"{name} {duration(us)}" for name, us in profile.parts_us.items())
    model = f"by the model of an {profile.card}"
    console.print(Text.assemble((duration(profile.time_us), "bold"), f" {model}: {parts}."), soft_wrap=True)
    console.print(safe(bound_sentence(profile)), soft_wrap=True)
    _put_hints(console, profile)
    _put_timeline(console, profile)
    for kernel in profile.kernels:
        _put_kernel(console, kernel)
    if profile.left_out:
        console.print(Text(f"\n... and {profile.left_out} launches of further kernels.", "dim"))
    _put_totals(console, profile)
    _put_source(console, profile, source.splitlines(), ptx)


def _put_hints(console: Console, profile: CallProfile) -> None:
    hints = hints_of(profile)
    if hints:
        console.print(Text("\nTry next", "bold"))
    for number, hint in enumerate(hints, 1):
        also = f" (also {hint.also})" if hint.also else ""
        console.print(safe(f"  {number}. {hint.sentence}{also}."), soft_wrap=True)
        console.print(safe(f"     {hint.remedy} {gain_text(hint, profile).capitalize()}."), soft_wrap=True)


def _put_timeline(console: Console, profile: CallProfile) -> None:
    if len(profile.timeline) < 2:
        return
    shown = [
        f"{duration(launched.start_us)} {profile.kernels[launched.kernel].name}"
        for launched in profile.timeline[:_MOST_LAUNCHES]
    ]
    launches = sum(kernel.launches for kernel in profile.kernels) + profile.left_out
    left = launches - len(shown)
    rest = f", and {left} more" if left else ""
    console.print(safe(f"\nLaunches: {', '.join(shown)}{rest}."), soft_wrap=True)


def _put_kernel(console: Console, kernel: KernelProfile) -> None:
    times = "1 launch" if kernel.launches == 1 else f"{kernel.launches} launches"
    console.print(
        Text.assemble("\n", safe(f"Kernel {kernel.name}", "bold"), f"  {times}, {duration(kernel.time_us)}"),
        soft_wrap=True,
    )
    registers = f"{kernel.registers} registers" if kernel.registers is not None else "registers unknown"
    lines = [
        f"grid {_shape(kernel.grid)}{kernel.counted_text}, block {_shape(kernel.block)}, {registers}, "
        f"{kernel.shared_bytes:,} B shared",
        f"{kernel.resident_blocks} blocks with {kernel.resident_warps} of {MOST_WARPS} warps on a multiprocessor "
        f"({kernel.occupancy:.0%} occupancy), limited by {kernel.limiter}",
        "alone: " + ", ".join(f"{name} {duration(us)}" for name, us in _terms(kernel)),
    ]
    if waited := waits(kernel):
        lines.append("warps wait for " + ", ".join(f"{reason} {share:.0%}" for reason, share in waited))
    lines += filter(None, (local_text(kernel), bytes_text(kernel)))
    for array in kernel.arrays:
        asked = [
            f"{verb} {moved / (array.bytes * kernel.launches):,.3g} times"
            for verb, moved in (("read", array.read), ("written", array.written))
            if moved and array.bytes
        ]
        lines.append(f"  {array.name}, {size_text(array.bytes)}: {', '.join(asked)}")
    for text in lines:
        console.print(safe(f"  {text}"), soft_wrap=True)


def _terms(kernel: KernelProfile) -> list[tuple[str, float]]:
    terms = sorted(kernel.terms_us.items(), key=lambda term: (-term[1], term[0]))
    return terms[:_MOST_TERMS]


def _shape(sizes: Sequence[int]) -> str:
    """``(16, 1, 1)`` is 16."""
    shown = list(sizes)
    while len(shown) > 1 and shown[-1] == 1:
        shown.pop()
    return " x ".join(f"{size:,}" for size in shown)


def _put_totals(console: Console, profile: CallProfile) -> None:
    rows = Table(box=None, pad_edge=False, show_header=False, title="\nIn all", title_justify="left")
    rows.title_style = "bold"
    for name, value in totals(profile.total):
        rows.add_row(f"  {name}", value)
    console.print(rows)


def _put_source(console: Console, profile: CallProfile, source: Sequence[str], ptx: bool) -> None:
    counts = profile.by_line
    shown = shown_lines(profile, len(source))
    cells = {
        number: [str(number), *(line_cells(counts[number]) if number in counts else [""] * len(_COLUMNS))]
        for number in shown
    }
    names = ("line", *_COLUMNS)
    widths = [max(map(len, column)) for column in zip(names, *cells.values(), strict=True)]
    room = max(console.width - sum(widths) - 2 * len(widths), 20) if console.is_terminal else _WIDEST_SOURCE

    def put(row: Sequence[str], text: str, style: str) -> None:
        line = "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        console.print(whole(safe(f"{line}  {text[:room]}".rstrip(), style)), soft_wrap=True)

    console.print(Text("\nSource", "bold"))
    put(names, "", "dim")
    last = 0
    for number in shown:
        if last and number != last + 1:
            console.print(Text("...", "dim"))
        last = number
        put(cells[number], source[number - 1].expandtabs(4), "" if number in counts else "dim")
        for each in counts[number].ptx if ptx and number in counts else ():
            put(["", f"{each.instructions:,}", *[""] * (len(_COLUMNS) - 1)], f"    {each.text}", "dim")
    if 0 in counts:
        console.print(Text(f"{counts[0].instructions:,} instructions have no source line.", "dim"))


def line_cells(line: LineCounts) -> list[str]:
    per_request, passes = line.sectors_per_request, line.passes_per_request
    return [
        f"{line.instructions:,}",
        f"{line.active_threads:.1f}",
        f"{per_request:.1f}" if per_request is not None else "",
        f"{line.dram_bytes:,}" if line.dram_sectors else "",
        f"{passes:.1f}" if passes is not None else "",
        f"{line.waited_for:,}" if line.waited_for else "",
    ]
