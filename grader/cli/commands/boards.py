"""`leaderboard`: the board of a challenge."""

from __future__ import annotations

from rich.table import Table

from grader.cli import config, options
from grader.cli.client import connect, segment, understood
from grader.cli.command import make_app
from grader.cli.report import factor_text
from grader.cli.terminal import put_json, put_table, safe, say
from grader.device_kinds import caution_of
from grader.formats import duration
from grader.schemas.submission import Leaderboard

app = make_app()


@app.command()
def leaderboard(
    slug: options.Slug,
    device: options.Device = None,
    language: options.LanguageOption = None,
    json: options.Json = False,
    server: options.Server = None,
) -> int:
    """Show the leaderboard of a challenge."""
    chosen = options.language(language)
    found = connect().get(
        f"/leaderboards/{segment(slug)}",
        device=device or config.text("device"),
        language=chosen.value if chosen else None,
    )
    board = understood(Leaderboard, found)
    if json:
        put_json(board)
        return 0
    show(board)
    return 0


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
