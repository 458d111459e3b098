"""`diff`: what differs between two submissions, or between a file and a submission."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from grader.cli import options
from grader.cli.client import connect
from grader.cli.command import make_app
from grader.cli.comparison import Change, Comparison, Side, compare
from grader.cli.report import factor_text, time_text, verdict_text
from grader.cli.terminal import out, put_json, safe, say

app = make_app()
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@app.command()
def diff(
    first: Annotated[str, typer.Argument(metavar="A", help="A submission or a file: the older one.")],
    second: Annotated[
        str | None,
        typer.Argument(
            metavar="[B]", help="The newer one. Without it, A is compared with your submission before it."
        ),
    ] = None,
    challenge: Annotated[
        str | None,
        typer.Option("--challenge", "-c", metavar="SLUG", help="For a file alone: your latest for this one."),
    ] = None,
    json: options.Json = False,
    server: options.Server = None,
) -> int:
    """Show what differs between two submissions, or a file and one."""
    found = compare(connect(), first, second, challenge)
    if json:
        put_json(_as_dict(found))
    else:
        _show(found)
    return 0


def _show(found: Comparison) -> None:
    for side in (found.before, found.after):
        out().print(_line(side))
    if found.changes:
        out().print(_times(found.changes))
    out().print()
    for line in found.lines:
        heading = line.startswith(("---", "+++"))
        out().print(safe(line, "bold" if heading else _COLOURS.get(line[:1], "")), soft_wrap=True)
    if not found.lines:
        say("The sources are the same.", "dim")


def _line(side: Side) -> Text:
    line = safe(side.name, "bold")
    if side.view is None:
        return line.append("  a file", "dim")
    verdict = verdict_text(side.view.verdict) if side.view.verdict else Text(side.view.state.value, "cyan")
    line.append("  ").append_text(verdict)
    if score := side.view.score:
        line.append(f"  {score.passed}/{score.total} cases")
        if score.time_us:
            line.append(f"  {time_text(score.time_us)}")
        if score.speedup:
            line.append(f"  speedup {factor_text(score.speedup)}")
    return line.append_text(safe(f"  on {side.view.device}", "dim"))


def _times(changes: list[Change]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("workload", "before", "after", "time", ""):
        table.add_column(name, justify="left" if name in ("workload", "") else "right")
    for it in changes:
        faster = it.ratio < 1
        style = ("green" if faster else "red") if it.sure else "dim"
        told = ("faster" if faster else "slower") if it.sure else "within the intervals"
        row = (time_text(it.before_us), time_text(it.after_us), Text(factor_text(it.ratio), style))
        table.add_row(safe(it.workload), *row, Text(told, style))
    return table


def _as_dict(found: Comparison) -> dict[str, Any]:
    return {
        "before": _side(found.before),
        "after": _side(found.after),
        "workloads": [
            {
                "name": it.workload,
                "before_us": it.before_us,
                "after_us": it.after_us,
                "ratio": it.ratio,
                "sure": it.sure,
            }
            for it in found.changes
        ],
        "diff": found.lines,
    }


def _side(side: Side) -> dict[str, Any]:
    view = side.view.model_dump(mode="json") if side.view is not None else None
    return {"name": side.name, "submission": view}
