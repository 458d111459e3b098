"""A call's launches as plain values of ``grader.schemas.call_profile``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from .explain import array_name, kernel_name
from .model import (
    H200,
    MODEL_VERSION,
    NEEDS,
    Card,
    Launch,
    Row,
    copies_seconds,
    occupancy_of,
    parts_of,
    seconds_of,
    spilling,
    took,
)

# The longest kernels and busiest lines, so that it fits into a message.
_MOST_KERNELS, _MOST_LINES, _MOST_LINES_IN_ALL = 32, 200, 240
_MOST_ACCESSES, _MOST_ARRAYS, _MOST_IN_TIMELINE = 32, 16, 100
# JSON bytes.
_BYTES_OF_LINES, _BYTES_OF_ACCESSES, _BYTES_OF_PTX = 140_000, 30_000, 30_000
_MAY_BE_NAMED = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$<>:, .()-")
_NAME_CHARS, _ARRAY_CHARS, _PTX_CHARS = 100, 60, 100
_ALIKE = {
    "instructions": "issued",
    "threads": "lanes",
    "threads_on": "guarded",
    "divergent_branches": "divergent",
    "stall_cycles": "waited",
    "l1_lines": "lines",
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
_SECTOR_BYTES = 32
Counts = dict[str, Any]


def profile_of(
    launches: Sequence[Launch], copies: int = 0, copied: int = 0, card: Card = H200, *, linked: int = 0
) -> dict[str, Any]:
    """See ``model.seconds_of``."""
    alike: dict[tuple[Any, ...], list[Launch]] = {}
    for launch in launches:
        alike.setdefault(_shape(launch), []).append(launch)
    made = {shape: _kernel(same, card) for shape, same in alike.items()}
    order = sorted(made, key=lambda shape: -made[shape]["time_us"])
    kernels = [made[shape] for shape in order]
    kept = kernels[:_MOST_KERNELS]
    _cut_all(kept)
    copying = 1e6 * copies_seconds(copies, copied, card, linked=linked)
    return {
        "card": card.name,
        "model": MODEL_VERSION,
        "time_us": 1e6 * seconds_of(launches, copies, copied, card, linked=linked),
        "copies": copies,
        "copied_bytes": copied,
        "copies_us": copying,
        "kernels": kept,
        "left_out": sum(kernel["launches"] for kernel in kernels[_MOST_KERNELS:]),
        "timeline": _timeline(launches, {shape: number for number, shape in enumerate(order)}, card),
    }


def _shape(launch: Launch) -> tuple[Any, ...]:
    return launch.kernel, launch.grid, launch.block, launch.shared, launch.registers, launch.gpu


def _timeline(
    launches: Sequence[Launch], numbers: dict[tuple[Any, ...], int], card: Card
) -> list[dict[str, Any]]:
    """The first launches, GPU by GPU."""
    found: list[dict[str, Any]] = []
    ends: dict[int | None, float] = {}
    for launch in launches[:_MOST_IN_TIMELINE]:
        us = 1e6 * (card.launch + took(launch, card))
        number = numbers[_shape(launch)]
        if number < _MOST_KERNELS:
            found.append({"kernel": number, "start_us": ends.get(launch.gpu, 0.0), "time_us": us})
        ends[launch.gpu] = ends.get(launch.gpu, 0.0) + us
    return found


def _kernel(launches: Sequence[Launch], card: Card) -> dict[str, Any]:
    first, occupancy = launches[0], occupancy_of(launches[0], card)
    terms: dict[str, float] = {}
    working = 0.0
    lines: dict[int, Counts] = {}
    accesses: dict[tuple[int, str, str], Counts] = {}
    arrays: dict[str, Counts] = {}
    stalls: dict[str, int] = {}
    spill_terms: dict[str, float] = {}
    for launch in launches:
        working += took(launch, card)
        for name, seconds in parts_of(launch, card).items():
            terms[name] = terms.get(name, 0.0) + 1e6 * seconds
        for row in launch.rows:
            _add(lines.setdefault(row.line, {}), row)
            _add_access(accesses, arrays, row)
            if waited := _delays(row):
                _add_to(stalls, _reason(row), waited)
        for name, seconds in spilling(launch, card).items():
            spill_terms[name] = spill_terms.get(name, 0.0) + 1e6 * seconds
        for spill in launch.spills:
            _add_to(lines.setdefault(spill.line, {}), "spill_requests", spill.requests)
    launching = 1e6 * card.launch * len(launches)
    on = "" if first.gpu is None else f" on GPU {first.gpu}"
    name = (_fit(kernel_name(first.kernel), _NAME_CHARS - len(on)) or "kernel") + on
    return {
        "name": name,
        "launches": len(launches),
        "grid": first.grid,
        "block": first.block,
        "registers": first.registers,
        "shared_bytes": first.shared,
        "resident_blocks": occupancy.blocks,
        "resident_warps": occupancy.warps,
        "counted_blocks": first.counted if first.counted < first.blocks else 0,
        "limiter": occupancy.limiter,
        "time_us": launching + 1e6 * working,
        "launch_us": launching,
        "terms_us": terms,
        "lines": [{"line": line, **_plain(lines[line])} for line in sorted(lines)],
        "rest": {},
        "accesses": sorted(map(_plain, accesses.values()), key=lambda access: -access["sectors"]),
        "arrays": sorted(arrays.values(), key=lambda array: -array["bytes"])[:_MOST_ARRAYS],
        "stalls": dict(sorted(stalls.items(), key=lambda stall: -stall[1])),
        "spill_terms_us": spill_terms,
        "spilled_bytes": sum(spill.bytes for spill in first.spills),
        "balance": _balance(first, card),
    }


def _balance(launch: Launch, card: Card) -> float | None:
    """An average multiprocessor's instructions, relative to the busiest one's."""
    busiest = dict(zip(NEEDS, launch.busiest, strict=True))["issue"]
    issued = sum(row.issued * row.work.slots for row in launch.rows)
    return min(1.0, issued / card.multiprocessors / busiest) if busiest else None


def _add(counts: Counts, row: Row) -> None:
    for name, of_row in _ALIKE.items():
        if value := getattr(row, of_row):
            _add_to(counts, name, value)
    if slots := row.issued * row.work.slots:
        _add_to(counts, "issue_slots", slots)
        if row.work.division:
            _add_to(counts, "division_slots", slots)
    if delayed := _delays(row):
        _add_to(counts, "delay_cycles", delayed)
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
    if row.ptx and row.issued:
        counts.setdefault("ptx", []).append({"text": row.ptx[:_PTX_CHARS], "instructions": row.issued})


def _add_access(accesses: dict[tuple[int, str, str], Counts], arrays: dict[str, Counts], row: Row) -> None:
    """By line, array and kind."""
    if not row.requests:
        return
    kind, name = _OF_ACCESSES.get(row.work.access, "load"), _fit(array_name(row.array), _ARRAY_CHARS)
    counts = accesses.setdefault(
        (row.line, name, kind),
        {"line": row.line, "array": name, "kind": kind, "array_bytes": row.array_bytes},
    )
    for count, value in (
        ("requests", row.requests),
        ("sectors", row.sectors),
        ("ideal_sectors", row.ideal_sectors),
        ("l1_lines", row.lines),
        ("l2_sectors", row.l2),
        ("dram_sectors", row.dram),
        ("bytes", row.bytes),
        ("threads", row.guarded),
        ("delay_cycles", row.delayed),
        ("turns", row.same if kind == "atomic" else 0),
    ):
        _add_to(counts, count, value)
    counts.setdefault("step", set()).add(row.steps)
    if name:
        array = arrays.setdefault(
            name, {"name": name, "bytes": row.array_bytes, "read": 0, "written": 0, "moved": 0}
        )
        array["read" if kind == "load" else "written"] += row.bytes
        array["moved"] += row.dram * _SECTOR_BYTES


def _delays(row: Row) -> int:
    """For its result or, at a barrier, for others."""
    return row.waited if row.work.kind == "sync" else row.delayed


def _reason(row: Row) -> str:
    """What the awaited row waits for."""
    if row.work.kind == "sync":
        return "global memory" if row.ptx.startswith("cp.async") else "barriers"
    if row.work.access == "atomic":
        return "atomics"
    for reason, count in (
        ("global memory", row.requests),
        ("local memory", row.local_requests),
        ("shared memory", row.shared_requests),
        ("constant memory", row.constant_requests),
    ):
        if count:
            return reason
    return {"matrix": "tensor cores", "shuffle": "shuffles"}.get(row.work.kind, "arithmetic")


def _fit(name: str, chars: int) -> str:
    return "".join(letter if letter in _MAY_BE_NAMED else "_" for letter in name)[:chars]


def _add_to(counts: Counts, name: str, value: int) -> None:
    counts[name] = counts.get(name, 0) + value


def _plain(counts: Counts) -> Counts:
    """Steps only if constant."""
    found = {}
    for name, value in counts.items():
        if not isinstance(value, set):
            found[name] = value
        elif len(value) == 1 and (step := next(iter(value))) is not None:
            found[name] = step
    return found


def _cut_all(kernels: Sequence[dict[str, Any]]) -> None:
    lines, line_bytes = _MOST_LINES_IN_ALL, _BYTES_OF_LINES
    access_bytes, ptx_bytes = _BYTES_OF_ACCESSES, _BYTES_OF_PTX
    for kernel in kernels:
        line_bytes -= _cut(kernel, min(lines, _MOST_LINES), line_bytes)
        lines -= len(kernel["lines"])
        for name in ("arrays", "accesses"):
            kernel[name], size = _within(kernel[name][:_MOST_ACCESSES], access_bytes)
            access_bytes -= size
        for line in sorted(kernel["lines"], key=_work, reverse=True):
            if "ptx" in line:
                line["ptx"], size = _within(line["ptx"], ptx_bytes)
                ptx_bytes -= size


def _within(entries: Sequence[Counts], room: int) -> tuple[list[Counts], int]:
    """The first that fit into ``room`` bytes of JSON, and their bytes."""
    kept: list[Counts] = []
    used = 0
    for entry in entries:
        size = len(json.dumps(entry)) + 2
        if used + size > room:
            break
        kept.append(entry)
        used += size
    return kept, used


def _cut(kernel: dict[str, Any], most: int, room: int) -> int:
    """Keep the busiest lines, sum up the others; returns their bytes of JSON."""
    kept: set[int] = set()
    used = 0
    for line in sorted(kernel["lines"], key=lambda line: (-_work(line), line["line"]))[:most]:
        if (used := used + len(json.dumps({**line, "ptx": []}))) > room:
            break
        kept.add(line["line"])
    for line in kernel["lines"]:
        if line["line"] not in kept:
            for name, value in line.items():
                if name not in ("line", "ptx") and not name.endswith("_step"):
                    _add_to(kernel["rest"], name, value)
    kernel["lines"] = [line for line in kernel["lines"] if line["line"] in kept]
    return used


def _work(counts: Counts) -> int:
    return sum(
        int(counts.get(name, 0)) for name in ("instructions", "l2_sectors", "shared_passes", "atomic_turns")
    )
