"""`leaderboard`: the board of a challenge."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from grader.cli import config, options
from grader.cli.client import Client, connect, segment, understood
from grader.cli.command import make_app
from grader.cli.report import factor_text
from grader.cli.terminal import put_json, put_table, safe, say
from grader.device_kinds import caution_of
from grader.errors import BadRequest
from grader.formats import duration
from grader.schemas.submission import Leaderboard, SubmissionView

app = make_app()


@app.command()
def leaderboard(
    slug: options.Slug,
    device: options.Device = None,
    language: options.LanguageOption = None,
    withdraw: Annotated[
        str | None,
        typer.Option(
            "--withdraw",
            metavar="ID",
            help="Take this entry of yours off the board; your next best one ranks.",
        ),
    ] = None,
    put_back: Annotated[
        str | None, typer.Option("--put-back", metavar="ID", help="Put an entry that you withdrew back.")
    ] = None,
    json: options.Json = False,
    server: options.Server = None,
) -> int:
    """Show the leaderboard of a challenge, or take an entry of yours off it."""
    chosen, client = options.language(language), connect()
    wanted = device or config.text("device")
    if withdraw or put_back:
        wanted = device or _move(client, slug, withdraw, put_back).device
    found = client.get(
        f"/leaderboards/{segment(slug)}",
        device=wanted,
        language=chosen.value if chosen else None,
    )
    board = understood(Leaderboard, found)
    if json:
        put_json(board)
        return 0
    show(board)
    return 0


def _move(client: Client, slug: str, withdraw: str | None, put_back: str | None) -> SubmissionView:
    """Raises BadRequest for another challenge's."""
    if withdraw and put_back:
        raise BadRequest("--withdraw and --put-back exclude each other.", "Use one of them.")
    path = f"/submissions/{segment(withdraw or put_back or '')}"
    view = understood(SubmissionView, client.get(path))
    if view.challenge != slug:
        raise BadRequest(f"{view.id} is for {view.challenge}, not for {slug}.", "Name its challenge.")
    at = f"{path}/withdrawal"
    view = understood(SubmissionView, client.put(at, {}) if withdraw else client.delete(at))
    say(f"{view.id} is off the board." if withdraw else f"{view.id} is on the board again.", "green")
    return view


def show(board: Leaderboard) -> None:
    put_table(_table(board))
    if not board.open:
        say("This board is not open to you: you see your own entry, without a rank.", "yellow")
    elif not board.entries:
        say("Nobody is on this board yet.", "dim")
    elif not board.representative:
        say(f"Times on {board.device} are not representative: they {caution_of(board.device)}.", "yellow")
    if board.entries and board.resolution:
        say(f"Times that differ by less than {100 * board.resolution:g} % share a rank.", "dim")
    if board.left_out:
        say(f"Not tested, because the GPU's memory is too small: {', '.join(board.left_out)}.", "yellow")
    if board.frozen_at:
        at = board.frozen_at.astimezone()
        say(
            f"Frozen: it shows what was received until {at:%Y-%m-%d %H:%M}, and your own newer best.",
            "yellow",
        )
    if others := [name for name in board.devices if name != board.device]:
        say(f"Other boards: {', '.join(others)} (--device).", "dim")


def _table(board: Leaderboard) -> Table:
    filtered = f", {board.language.value} only" if board.language else ""
    title = safe(f"{board.challenge} v{board.version} on {board.device}{filtered}", "bold")
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="dim")
    for name in ("rank", "user", "language", "time", "speedup", "submission"):
        table.add_column(name, justify="right" if name in ("rank", "time", "speedup") else "left")
    alone = board.own is not None and board.own_place is None
    for entry in [*board.entries, *([board.own] if board.own is not None and alone else [])]:
        half = (entry.ci_us[1] - entry.ci_us[0]) / 2
        table.add_row(
            str(entry.rank or ""),
            safe(entry.user, "bold"),
            entry.language.value,
            f"{duration(entry.time_us)} ± {duration(half)}" if half else duration(entry.time_us),
            factor_text(entry.speedup),
            safe(entry.submission, "dim"),
        )
    return table
