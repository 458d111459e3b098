"""`progress`: solved challenges, track by track."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from grader.cli import options
from grader.cli.client import connect, understood
from grader.cli.command import make_app
from grader.cli.report import factor_text
from grader.cli.terminal import put_json, put_table, safe, say
from grader.device_kinds import caution_of
from grader.schemas.progress import Best, Mark, Progress, TrackProgress

app = make_app(remote=True)
_MARKS = {Mark.SOLVED: ("solved", "green"), Mark.ATTEMPTED: ("tried", "yellow"), Mark.OPEN: ("", "dim")}
_BAR = 10


@app.command()
def progress(
    user: Annotated[
        str | None, typer.Option("--user", metavar="NAME", help="The user (staff only; default: you).")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Also list every challenge.")] = False,
    json: options.Json = False,
) -> int:
    """Show what you have solved, track by track."""
    found = understood(Progress, connect().get("/progress", user=user))
    if json:
        put_json(found)
        return 0
    put_table(_tracks(found))
    if every:
        put_table(_challenges(found))
    for device in _without_gpu(found):
        say(f"Speedups on {device} are not representative: they {caution_of(device)}.", "yellow")
    say(f"{found.solved} of {found.total} solved, {found.attempted} attempted.")
    if found.next:
        say(f"Next: grader show {found.next}", "green")
    return 0


def _tracks(found: Progress) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("track", "", "solved", "attempted", "best speedup", "next"):
        table.add_column(name, no_wrap=name in ("", "solved", "next"))
    for track in found.tracks:
        table.add_row(
            safe(track.title),
            _bar(track),
            f"{track.solved} of {track.total}",
            str(track.attempted),
            _best(track.best),
            safe(track.next or "", "cyan"),
        )
    return table


def _challenges(found: Progress) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", title=" ")
    for name in ("challenge", "title", "state", "best speedup", "unsolved prerequisites"):
        table.add_column(name)
    for track in found.tracks:
        for line in track.challenges:
            table.add_row(
                safe(line.slug, "cyan"),
                safe(line.title),
                Text(*_MARKS[line.mark]),
                _best(line.best),
                safe(", ".join(line.missing) if line.mark is not Mark.SOLVED else "", "dim"),
            )
    return table


def _bar(track: TrackProgress) -> Text:
    full = round(_BAR * track.solved / track.total) if track.total else 0
    return Text.assemble(("#" * full, "green"), ("-" * (_BAR - full), "dim"))


def _best(best: Best | None) -> Text:
    if best is None:
        return Text("")
    return safe(f"{factor_text(best.speedup)} on {best.device}", "" if best.representative else "dim")


def _without_gpu(found: Progress) -> list[str]:
    """Devices whose speedups say nothing about a GPU."""
    lines = [line for track in found.tracks for line in track.challenges]
    return sorted({line.best.device for line in lines if line.best and not line.best.representative})
