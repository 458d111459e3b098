"""Shows how far a proof has come, and what it found."""

from __future__ import annotations

import time
from types import TracebackType

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from grader.authoring.findings import Check, Proof, Proofs, Status
from grader.cli.terminal import aside, out, put_table, safe, say

_COLOURS = {Status.OK: "green", Status.WEAK: "yellow", Status.ERROR: "bold red", Status.SKIPPED: "dim"}


class Progress:
    """A context manager: one live line on a terminal, a line for each tenth elsewhere. Everything goes to stderr."""

    def __init__(self) -> None:
        self._bar = Bar(
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
            console=aside(),
            transient=True,
            disable=not aside().is_terminal,
        )
        self._tenth = 0
        self._began = time.monotonic()
        self._task = self._bar.add_task("starting", total=None)

    def __enter__(self) -> Progress:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def show(self, done: int, total: int, label: str) -> None:
        self._bar.update(self._task, completed=done, total=total, description=label)
        tenth = 10 * done // total
        if not aside().is_terminal and tenth > self._tenth:
            say(f"{done} of {total} done after {time.monotonic() - self._began:.0f} s, last {label}")
        self._tenth = tenth


def put_proofs(proofs: Proofs) -> None:
    """Each challenge with its checks, then one line for all."""
    for proof in proofs.challenges:
        _put_proof(proof)
    strong = sum(it.strong for it in proofs.challenges)
    style = "bold green" if proofs.strong else "bold red"
    said = f"{strong} of {len(proofs.challenges)} proven on {proofs.device} in {proofs.seconds:.0f} s"
    out().print(Text(said, style))


def _put_proof(proof: Proof) -> None:
    out().print(safe(proof.slug, "bold"), Text(f"{proof.seconds:.1f} s", "dim"))
    table = Table(box=None, pad_edge=True, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for check in proof.checks:
        table.add_row(Text(check.status.value, _COLOURS[check.status]), safe(check.name), _told(check))
    put_table(table)
    out().print()


def _told(check: Check) -> Text:
    text = safe(check.summary)
    for line in check.details:
        text.append("\n- ").append_text(safe(line))
    for line in check.remarks:
        text.append("\n  ").append_text(safe(line, "dim"))
    return text
