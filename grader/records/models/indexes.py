"""Sources make rows wide, and a term leaves a million, so boards and lists read indexes.

A partial index needs the same words in the query, not parameters, so queries take these conditions.
"""

from __future__ import annotations

from sqlalchemy import Index, text

# Other boards would reveal submissions that a competition's frozen board hides.
RANKED = (
    "verdict = 'accepted' AND time_us IS NOT NULL AND ci_lo_us IS NOT NULL AND ci_hi_us IS NOT NULL "
    "AND competition_id IS NULL AND set_aside IS NULL AND withdrawn_at IS NULL"
)
IN_COMPETITION = "competition_id IS NOT NULL"
# Without rejudges by staff and runs.
HANDED_IN = "rejudge_of IS NULL AND kind <> 'run'"
RUN = "kind = 'run'"
# Submissions to a competition are not grades.
JUDGED = "verdict IS NOT NULL AND kind <> 'run' AND competition_id IS NULL"
GRADED = "kind <> 'run'"


def reading() -> list[Index]:
    """New objects for each table that gets them."""
    return [
        # Has all columns of rankings: no row is read.
        _partial(
            "ix_submissions_board",
            RANKED,
            *("challenge", "version", "device", "user_id", "time_us", "created_at", "id"),
            *("ci_lo_us", "ci_hi_us", "language", "verdict", "competition_id", "set_aside"),
            "withdrawn_at",
        ),
        _partial(
            "ix_submissions_competition",
            IN_COMPETITION,
            *("competition_id", "team_id", "challenge", "created_at", "id", "verdict", "finished_at"),
        ),
        # Lists, newest first.
        _partial("ix_submissions_history", HANDED_IN, "user_id", "created_at", "id"),
        _partial(
            "ix_submissions_history_of_challenge", HANDED_IN, "user_id", "challenge", "created_at", "id"
        ),
        _partial("ix_submissions_all_of_challenge", HANDED_IN, "challenge", "created_at", "id"),
        _partial("ix_submissions_all", HANDED_IN, "created_at", "id"),
        _partial("ix_submissions_all_of_verdict", HANDED_IN, "verdict", "created_at", "id"),
        # Partial: without statistics SQLite assumes that "is null" is rare.
        _partial("ix_submissions_again", "rejudge_of IS NOT NULL", "rejudge_of"),
        _partial("ix_submissions_runs", RUN, "user_id", "created_at", "id"),
        _partial("ix_submissions_runs_ended", RUN, "finished_at"),
        # Includes the condition's column, so no row is read.
        _partial(
            "ix_submissions_progress",
            GRADED,
            *("user_id", "challenge", "version", "device", "state", "verdict", "speedup", "rejudge_of"),
            *("kind", "id", "set_aside"),
        ),
        _partial(
            "ix_submissions_grades",
            JUDGED,
            *("challenge", "user_id", "created_at", "id", "public_id", "verdict", "speedup", "device"),
            *("version", "rejudge_of", "kind", "competition_id", "set_aside", "language", "credit"),
        ),
        # The turns of those who wait.
        Index("ix_submissions_lately", "claimed_at", "user_id", "state", "language", "rejudge_of", "kind"),
        # The pace of a queue.
        Index("ix_submissions_ended", "device", "state", "finished_at"),
    ]


def _partial(name: str, condition: str, *columns: str) -> Index:
    return Index(name, *columns, sqlite_where=text(condition), postgresql_where=text(condition))
