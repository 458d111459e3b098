"""A board as a table of commas, for spreadsheets."""

from __future__ import annotations

import re

from grader import spreadsheet
from grader.schemas.leaderboard import Leaderboard, LeaderboardEntry

COLUMNS = (
    "rank",
    "user",
    "language",
    "time_us",
    "time_low_us",
    "time_high_us",
    "speedup",
    "speedup_low",
    "speedup_high",
    "sol",
    "submitted_at",
    "submission",
)


def written(board: Leaderboard) -> str:
    """Entries, then what they are compared with, which has no rank."""
    lines = [spreadsheet.row(COLUMNS), *(spreadsheet.row(_row(it)) for it in board.entries)]
    for it in board.references:
        low, high = it.ci_us or (None, None)
        lines.append(
            spreadsheet.row(["", it.name, "", it.time_us, low, high, it.speedup, None, None, it.sol, "", ""])
        )
    return "".join(lines)


def _row(it: LeaderboardEntry) -> list[object]:
    return [
        it.rank,
        it.user,
        it.language.value,
        it.time_us,
        *it.ci_us,
        it.speedup,
        *(it.speedup_ci or (None, None)),
        it.sol,
        it.submitted_at.isoformat(timespec="seconds"),
        it.submission,
    ]


def plain(text: str) -> str:
    """For the name of a file."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", text)
