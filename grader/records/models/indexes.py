"""Indexes of submissions that boards and lists are read from: sources make the rows wide, and a term leaves a million.

Both databases use a partial index only if the query has its condition in the same words, not as a parameter. So queries
take these conditions from here.
"""

from __future__ import annotations

from sqlalchemy import Index, text

# Entries of boards. Submissions to a competition are only on its own board: their data is public, and other boards
# would reveal what a frozen board hides. Judgements that are set aside are on none, nor are entries that their author
# took off.
RANKED = (
    "verdict = 'accepted' AND time_us IS NOT NULL AND ci_lo_us IS NOT NULL AND ci_hi_us IS NOT NULL "
    "AND competition_id IS NULL AND set_aside IS NULL AND withdrawn_at IS NULL"
)
IN_COMPETITION = "competition_id IS NOT NULL"
# A person's submissions, without rejudges by staff and without runs.
HANDED_IN = "rejudge_of IS NULL AND kind <> 'run'"
# Runs have no times, so they change no board.
RUN = "kind = 'run'"
# Verdicts of all cases, first or later. Submissions to a competition are not grades.
JUDGED = "verdict IS NOT NULL AND kind <> 'run' AND competition_id IS NULL"
# Everything judged by all cases, first or later.
GRADED = "kind <> 'run'"


def reading() -> list[Index]:
    """New objects for each table that gets them."""
    return [
        # In the order that finds each user's best, with all columns of rankings: no row is read.
        _partial(
            "ix_submissions_board",
            RANKED,
            *("challenge", "version", "device", "user_id", "time_us", "created_at", "id"),
            *("ci_lo_us", "ci_hi_us", "language", "verdict", "competition_id", "set_aside"),
            "withdrawn_at",
        ),
        # Boards and caps of a competition.
        _partial(
            "ix_submissions_competition",
            IN_COMPETITION,
            *("competition_id", "team_id", "challenge", "created_at", "id", "verdict", "finished_at"),
        ),
        # Lists, newest first: of a user, of a challenge, of everyone.
        _partial("ix_submissions_history", HANDED_IN, "user_id", "created_at", "id"),
        _partial(
            "ix_submissions_history_of_challenge", HANDED_IN, "user_id", "challenge", "created_at", "id"
        ),
        _partial("ix_submissions_all_of_challenge", HANDED_IN, "challenge", "created_at", "id"),
        _partial("ix_submissions_all", HANDED_IN, "created_at", "id"),
        _partial("ix_submissions_all_of_verdict", HANDED_IN, "verdict", "created_at", "id"),
        # Partial, without the many rows that rejudge nothing: without statistics SQLite assumes that "is null" is rare.
        _partial("ix_submissions_again", "rejudge_of IS NOT NULL", "rejudge_of"),
        # A user's runs, newest first.
        _partial("ix_submissions_runs", RUN, "user_id", "created_at", "id"),
        # Old runs, which are removed.
        _partial("ix_submissions_runs_ended", RUN, "finished_at"),
        # Progress: every verdict of a user. The condition's column is included, so no row is read.
        _partial(
            "ix_submissions_progress",
            GRADED,
            *("user_id", "challenge", "version", "device", "state", "verdict", "speedup", "rejudge_of"),
            *("kind", "id", "set_aside"),
        ),
        # Grades: everything that points are computed from, by student.
        _partial(
            "ix_submissions_grades",
            JUDGED,
            *("challenge", "user_id", "created_at", "id", "public_id", "verdict", "speedup", "device"),
            *("version", "rejudge_of", "kind", "competition_id", "set_aside", "language", "credit"),
        ),
        # Recently served submissions and their authors: the turns of those who wait.
        Index("ix_submissions_lately", "claimed_at", "user_id", "state", "language", "rejudge_of", "kind"),
        # The latest results, which show the pace of a queue.
        Index("ix_submissions_ended", "device", "state", "finished_at"),
    ]


def _partial(name: str, condition: str, *columns: str) -> Index:
    return Index(name, *columns, sqlite_where=text(condition), postgresql_where=text(condition))
