"""What each kernel takes of the device."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from grader.cli.report.words import table
from grader.cli.terminal import safe
from grader.schemas.hardware import KernelUsage, Witness


def kernels(found: list[KernelUsage]) -> Table:
    """A row a kernel: registers, shared and constant memory, stack, spills."""
    said = " (as the runner said)" if found[0].said_by is Witness.RUNNER else ""
    rows = table(f"Kernels{said}", "kernel", "registers", "shared", "constant", "stack", "spilled")
    for it in found:
        rows.add_row(
            safe(it.name),
            str(it.registers),
            f"{it.shared_bytes:,} B",
            "-" if it.constant_bytes is None else f"{it.constant_bytes:,} B",
            f"{it.stack_bytes:,} B",
            Text(_spilled(it), "yellow" if it.spills else ""),
        )
    return rows


def _spilled(kernel: KernelUsage) -> str:
    if kernel.said_by is Witness.RUNNER:
        return "-"
    if not kernel.spills:
        return "0 B"
    return f"{kernel.spill_stores:,} B stored, {kernel.spill_loads:,} B loaded"
