"""Made-up counts of the emulated GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grader.sandbox.emulator.model import H200, LINE_UNITS, NEEDS, Launch, Row
from grader.sandbox.emulator.work import Work

_NONE = dict.fromkeys(
    (
        "divergent", "waited", "requests", "sectors", "ideal_sectors", "l2", "dram", "same", "shared_requests",
        "passes", "ideal_passes", "constant_requests", "constant_passes", "local_requests", "local_sectors",
        "lines",
    ),
    0,
)  # fmt: skip


def row(line: int, access: str = "", issued: int = 100, steps: int | None = None, **counts: Any) -> Row:
    """``issued``: by full warps."""
    kind = "memory" if access or counts.get("requests") else "integer"
    work = Work(kind, access=access or ("load" if kind == "memory" else ""))
    given: dict[str, Any] = {
        **_NONE,
        "issued": issued,
        "lanes": 32 * issued,
        "guarded": counts.get("lanes", 32 * issued),
        **counts,
    }
    return Row(work=work, line=line, steps=steps, **given)


def launch(name: str = "k", grid: int = 100, rows: Sequence[Row] = (row(1),), **values: Any) -> Launch:
    updates = sum(counted.same for counted in rows)
    own: dict[str, Any] = {
        "block": (256, 1, 1), "shared": 0, "registers": 32, "chain": 700, "updates": updates,
        "updates_most": updates,
    }  # fmt: skip
    given: dict[str, Any] = {**own, "busiest": _shared_out(rows), **values}
    return Launch(kernel=name, grid=(grid, 1, 1), rows=tuple(rows), **given)


def _shared_out(rows: Sequence[Row]) -> tuple[int, ...]:
    """Units of work per multiprocessor, evenly distributed."""
    asked = dict.fromkeys(NEEDS, 0)
    for counted in rows:
        asked[counted.work.kind] += counted.issued
        asked["issue"] += counted.issued
        asked["lines"] += LINE_UNITS * counted.lines
        asked["banks"] += counted.passes + counted.constant_passes
        asked["from l2"] += counted.l2
    return tuple(units // H200.multiprocessors for units in asked.values())
