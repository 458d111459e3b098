"""`compare`: an accepted kernel with staff's solution, a shared one, or another by the same author."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Group
from rich.table import Table
from rich.text import Text

from grader.cli import options
from grader.cli.client import connect, segment, understood
from grader.cli.command import make_app
from grader.cli.report import sizes_text
from grader.cli.terminal import out, put_json, safe, say, tell
from grader.errors import EXIT_ACCEPTED
from grader.formats import duration
from grader.schemas.comparison import ComparedWorkload, KernelComparison
from grader.schemas.report import TOO_SHORT
from grader.schemas.side_by_side import Counter

app = make_app()


@app.command()
def compare(
    submission: options.Submission,
    against: Annotated[
        str,
        typer.Argument(
            metavar="[KERNEL]",
            help="`staff-cuda`, `staff-triton` or a submission's id (default: the first that is open to you).",
        ),
    ] = "",
    source: Annotated[
        bool, typer.Option("--source", help="Also print the other kernel's source and staff's commentary.")
    ] = False,
    json: options.Json = False,
    server: options.Server = None,
) -> int:
    """Compare an accepted kernel with staff's or others', by counters."""
    path = f"/submissions/{segment(submission)}/comparison"
    found = understood(KernelComparison, connect().get(path, against=against or None))
    if json:
        put_json(found)
    else:
        _put(found, source)
    return EXIT_ACCEPTED


def _put(found: KernelComparison, source: bool) -> None:
    if found.other is None:
        tell("There is nothing to compare with yet.")
    for workload in found.workloads:
        out().print(_workload(workload, found), soft_wrap=True)
    if found.other is not None and not found.workloads:
        tell(f"{found.other.name} was not judged on this device, so it has neither times nor counters here.")
    if found.other is not None and source:
        if found.commentary:
            tell("")
            tell(found.commentary)
        tell("")
        tell(found.other.source)
    for choice in found.choices:
        if found.other is None or choice.key != found.other.key:
            say(f"Also open: {choice.key}  {choice.label}", "dim")
    if found.closed:
        say(found.closed, "dim")


def _workload(workload: ComparedWorkload, found: KernelComparison) -> Group:
    assert found.other is not None
    rows = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in ("", found.mine.name, found.other.name, ""):
        rows.add_column(safe(title))
    times = [TOO_SHORT if time_us is None else duration(time_us) for time_us in workload.times_us]
    rows.add_row("time", *times, "")
    for counter in workload.counted.counters if workload.counted else []:
        rows.add_row(safe(counter.name), *_sides(counter), Text(_difference(counter), "bold"))
    said = workload.counted.sentence if workload.counted else workload.why
    head = Text.assemble("\n", safe(workload.name, "bold"), f"  {sizes_text(workload.sizes)}")
    return Group(head, rows, safe(said)) if said else Group(head, rows)


def _sides(counter: Counter) -> list[Text]:
    return [safe(text, "yellow" if counter.worse == side else "") for side, text in enumerate(counter.texts)]


def _difference(counter: Counter) -> str:
    return " ".join(filter(None, (counter.times, "(largest)" if counter.largest else "")))
