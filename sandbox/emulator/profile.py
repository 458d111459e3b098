"""The launches of a call as plain values in the form of ``grader.schemas.call_profile``, which defines each count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .explain import kernel_name
from .model import H200, MODEL_VERSION, Card, Launch, Row, copies_seconds, longest_of, occupancy_of, parts_of

# The longest kernels and the lines with most work are kept, so the profile always fits into a message.
_MOST_KERNELS, _MOST_LINES, _MOST_LINES_IN_ALL = 32, 200, 240
_MAY_BE_NAMED = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$<>:, .()-")
_NAME_CHARS = 100
# Counts with one name for every kind of row.
_ALIKE = {
    "instructions": "issued",
    "threads": "lanes",
    "threads_on": "guarded",
    "divergent_branches": "divergent",
    "stall_cycles": "waited",
    "l2_sectors": "l2",
    "dram_sectors": "dram",
    "shared_requests": "shared_requests",
    "shared_passes": "passes",
    "shared_ideal_passes": "ideal_passes",
    "constant_requests": "constant_requests",
    "constant_passes": "constant_passes",
    "local_requests": "local_requests",
    "local_sectors": "local_sectors",
}
_OF_ACCESSES = {"load": "load", "copy": "load", "store": "store", "atomic": "atomic"}
Counts = dict[str, Any]


def profile_of(
    launches: Sequence[Launch], copies: int = 0, copied: int = 0, card: Card = H200
) -> dict[str, Any]:
    """``copies``, ``copied``: see ``model.seconds_of``."""
    alike: dict[tuple[Any, ...], list[Launch]] = {}
    for launch in launches:
        alike.setdefault(
            (launch.kernel, launch.grid, launch.block, launch.shared, launch.registers), []
        ).append(launch)
    kernels = sorted((_kernel(same, card) for same in alike.values()), key=lambda it: -it["time_us"])
    left = _MOST_LINES_IN_ALL
    for kernel in kernels[:_MOST_KERNELS]:
        _cut(kernel, min(left, _MOST_LINES))
        left -= len(kernel["lines"])
    copying = 1e6 * copies_seconds(copies, copied, card)
    return {
        "card": card.name,
        "model": MODEL_VERSION,
        "time_us": copying + sum(kernel["time_us"] for kernel in kernels),
        "copies": copies,
        "copied_bytes": copied,
        "copies_us": copying,
        "kernels": kernels[:_MOST_KERNELS],
        "left_out": sum(kernel["launches"] for kernel in kernels[_MOST_KERNELS:]),
    }


def _kernel(launches: Sequence[Launch], card: Card) -> dict[str, Any]:
    first, occupancy = launches[0], occupancy_of(launches[0], card)
    terms: dict[str, float] = {}
    longest = 0.0
    lines: dict[int, Counts] = {}
    for launch in launches:
        parts = parts_of(launch, card)
        longest += longest_of(parts, card)
        for name, seconds in parts.items():
            terms[name] = terms.get(name, 0.0) + 1e6 * seconds
        for row in launch.rows:
            _add(lines.setdefault(row.line, {}), row)
    launching = 1e6 * card.launch * len(launches)
    name = "".join(letter if letter in _MAY_BE_NAMED else "_" for letter in kernel_name(first.kernel))
    return {
        "name": name[:_NAME_CHARS] or "kernel",
        "launches": len(launches),
        "grid": first.grid,
        "block": first.block,
        "registers": first.registers,
        "shared_bytes": first.shared,
        "resident_blocks": occupancy.blocks,
        "resident_warps": occupancy.warps,
        "limiter": occupancy.limiter,
        "time_us": launching + 1e6 * longest,
        "launch_us": launching,
        "terms_us": terms,
        "lines": [{"line": line, **_plain(lines[line])} for line in sorted(lines)],
        "rest": {},
    }


def _add(counts: Counts, row: Row) -> None:
    for name, of_row in _ALIKE.items():
        if value := getattr(row, of_row):
            counts[name] = counts.get(name, 0) + value
    if row.requests:
        kind = _OF_ACCESSES.get(row.work.access, "load")
        _add_to(counts, f"{kind}_requests", row.requests)
        _add_to(counts, f"{kind}_sectors", row.sectors)
        if kind == "atomic":
            _add_to(counts, "atomic_turns", row.same)
        else:
            _add_to(counts, f"{kind}_ideal_sectors", row.ideal_sectors)
            counts.setdefault(f"{kind}_step", set()).add(row.steps)
    if row.shared_requests:
        counts.setdefault("shared_step", set()).add(row.steps)


def _add_to(counts: Counts, name: str, value: int) -> None:
    counts[name] = counts.get(name, 0) + value


def _plain(counts: Counts) -> Counts:
    """Plain values; steps only if they are always the same."""
    found = {}
    for name, value in counts.items():
        if not isinstance(value, set):
            found[name] = value
        elif len(value) == 1 and (step := next(iter(value))) is not None:
            found[name] = step
    return found


def _cut(kernel: dict[str, Any], most: int) -> None:
    """Keep the lines with most work, and sum up the others."""
    work = {line["line"]: _work(line) for line in kernel["lines"]}
    kept = set(sorted(work, key=lambda line: (-work[line], line))[:most])
    for line in kernel["lines"]:
        if line["line"] not in kept:
            for name, value in line.items():
                if name != "line" and not name.endswith("_step"):
                    _add_to(kernel["rest"], name, value)
    kernel["lines"] = [line for line in kernel["lines"] if line["line"] in kept]


def _work(counts: Counts) -> int:
    return sum(
        int(counts.get(name, 0)) for name in ("instructions", "l2_sectors", "shared_passes", "atomic_turns")
    )
