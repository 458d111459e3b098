"""Indexes of submissions that boards and lists are read from: sources make the rows wide, and a term leaves a million.

Both databases take a partial index only where the query says its condition in the same words, not as a parameter: so
queries take these conditions from here.
"""

from __future__ import annotations

from sqlalchemy import Index, text

# What may stand on a board. What was handed in within a competition stands on that one's alone: it was judged by data
# that is known to everyone, and would tell what is kept back while its board is frozen. What is set aside is on none.
RANKED = (
    "verdict = 'accepted' AND time_us IS NOT NULL AND ci_lo_us IS NOT NULL AND ci_hi_us IS NOT NULL "
    "AND competition_id IS NULL AND set_aside IS NULL"
)
IN_COMPETITION = "competition_id IS NOT NULL"
# What a person submitted, without what staff had judged again, and without runs.
HANDED_IN = "rejudge_of IS NULL AND kind <> 'run'"
# Runs have no times, so they change no board.
RUN = "kind = 'run'"
# What has a verdict of all cases, be it the first or a later one. What was handed in within a competition is no grade.
JUDGED = "verdict IS NOT NULL AND kind <> 'run' AND competition_id IS NULL"
# Whatever was judged by all cases, be it for the first time or again.
GRADED = "kind <> 'run'"


def reading() -> list[Index]:
    """Made again for each table that they are given to."""
    return [
        # In the order in which each user's best is found, and with all that ranking reads: no row is touched for it.
        _partial(
            "ix_submissions_board",
            RANKED,
            *("challenge", "version", "device", "user_id", "time_us", "created_at", "id"),
            *("ci_lo_us", "ci_hi_us", "language", "verdict", "competition_id", "set_aside"),
        ),
        # Boards and caps of a competition.
        _partial(
            "ix_submissions_competition",
            IN_COMPETITION,
            *("competition_id", "team_id", "challenge", "created_at", "id", "verdict", "finished_at"),
        ),
        # Lists, the newest first: of a user, of a challenge, of everyone.
        _partial("ix_submissions_history", HANDED_IN, "user_id", "created_at", "id"),
        _partial(
            "ix_submissions_history_of_challenge", HANDED_IN, "user_id", "challenge", "created_at", "id"
        ),
        _partial("ix_submissions_all_of_challenge", HANDED_IN, "challenge", "created_at", "id"),
        _partial("ix_submissions_all", HANDED_IN, "created_at", "id"),
        _partial("ix_submissions_all_of_verdict", HANDED_IN, "verdict", "created_at", "id"),
        # Not of the many that judge nothing again: without statistics SQLite takes "is null" for a rare thing.
        _partial("ix_submissions_again", "rejudge_of IS NOT NULL", "rejudge_of"),
        # Runs of a user, the newest first.
        _partial("ix_submissions_runs", RUN, "user_id", "created_at", "id"),
        # Runs that ended long ago: they are removed.
        _partial("ix_submissions_runs_ended", RUN, "finished_at"),
        # Progress: every verdict of a user. The condition's column is there so that no row is touched for it.
        _partial(
            "ix_submissions_progress",
            GRADED,
            *("user_id", "challenge", "version", "device", "state", "verdict", "speedup", "rejudge_of"),
            *("kind", "id", "set_aside"),
        ),
        # Grades: all that points are computed from, student by student.
        _partial(
            "ix_submissions_grades",
            JUDGED,
            *("challenge", "user_id", "created_at", "id", "public_id", "verdict", "speedup", "device"),
            *("version", "rejudge_of", "kind", "competition_id", "set_aside", "language"),
        ),
        # What was served lately, and to whom: the turns of those who wait.
        Index("ix_submissions_lately", "claimed_at", "user_id", "state", "language", "rejudge_of", "kind"),
        # What ended last, which tells the pace of a queue.
        Index("ix_submissions_ended", "device", "state", "finished_at"),
    ]


def _partial(name: str, condition: str, *columns: str) -> Index:
    return Index(name, *columns, sqlite_where=text(condition), postgresql_where=text(condition))
