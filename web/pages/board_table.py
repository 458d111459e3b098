"""A board as a table of commas, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
import re

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
# What spreadsheets take for a formula at the beginning of a cell; a tab or a line's end before it changes nothing.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def written(board: Leaderboard) -> str:
    """Entries, then what they are compared with, which has no rank."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")  # as RFC 4180 says
    writer.writerow(COLUMNS)
    writer.writerows(_row(it) for it in board.entries)
    for it in board.references:
        low, high = it.ci_us or (None, None)
        writer.writerow(
            ["", safe(it.name), "", it.time_us, low, high, it.speedup, None, None, it.sol, "", ""]
        )
    return out.getvalue()


def _row(it: LeaderboardEntry) -> list[object]:
    return [
        it.rank,
        safe(it.user),
        it.language.value,
        it.time_us,
        *it.ci_us,
        it.speedup,
        *(it.speedup_ci or (None, None)),
        it.sol,
        it.submitted_at.isoformat(timespec="seconds"),
        safe(it.submission),
    ]


def safe(text: str) -> str:
    """A text that no spreadsheet computes: what looks like a formula gets an apostrophe, which says "text" there."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def plain(text: str) -> str:
    """For the name of a file."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", text)
