"""THE rank query: web, API and CLI all show what comes out of here."""

from __future__ import annotations

from typing import Any

from sqlalchemy import CTE, Select, func, literal, select, text, union_all
from sqlalchemy.orm import Session

from grader.records.models import SubmissionRow, UserRow
from grader.records.models.indexes import RANKED
from grader.schemas.report import Language
from grader.schemas.submission import LeaderboardEntry


def rank_query(
    challenge: str,
    version: int,
    device: str,
    language: Language | None = None,
    limit: int | None = None,
    offset: int = 0,
) -> Select[Any]:
    """One entry per user, with ranks; ``limit`` of them from the one after ``offset`` on.

    A user's entry is the accepted submission whose upper time bound is smallest: what is surely reached, so
    that submitting again and again until one lucky measurement gains nothing. The rank is 1 + the number of
    entries whose interval lies wholly below (is surely faster), so entries that cannot be told apart share a
    rank. Sorted by rank, then by time, then by who was first.
    """
    row = SubmissionRow
    # By an index that holds all of this (``ix_submissions_board``): sources make the rows wide.
    order = (row.ci_hi_us, row.time_us, row.created_at, row.id)
    accepted = (
        select(
            row.id,
            row.ci_lo_us,
            row.ci_hi_us,
            row.time_us,
            row.created_at,
            func.row_number().over(partition_by=row.user_id, order_by=order).label("of_user"),
        )
        .where(row.challenge == challenge, row.version == version, row.device == device, text(RANKED))
        .where(*([row.language == language] if language else []))
        .cte("accepted")
    )
    ranks = _ranks(select(accepted).where(accepted.c.of_user == 1).cte("entries"))
    place = (ranks.c.rank, ranks.c.time_us, ranks.c.created_at, ranks.c.id)
    # Before the rows are read: only those of the entries that are shown.
    shown = select(ranks).order_by(*place).limit(limit).offset(offset or None).cte("shown")
    return (
        select(
            shown.c.rank,
            UserRow.name,
            row.public_id,
            row.language,
            row.time_us,
            row.ci_lo_us,
            row.ci_hi_us,
            row.speedup,
            row.created_at,
        )
        .select_from(shown)
        .join(row, row.id == shown.c.id)
        .join(UserRow, UserRow.id == row.user_id)
        .order_by(shown.c.rank, shown.c.time_us, shown.c.created_at, shown.c.id)
    )


def _ranks(entries: CTE) -> CTE:
    """Id and rank of each entry. The ends of all intervals are put in a row: as many upper ends as lie before an
    entry's lower end, so many are surely faster. Comparing each with each would take the square of their number.
    """
    kept = (entries.c.id, entries.c.time_us, entries.c.created_at)
    lower = select(*kept, entries.c.ci_lo_us.label("at"), literal(0).label("upper"))
    upper = select(*kept, entries.c.ci_hi_us.label("at"), literal(1).label("upper"))
    ends = union_all(lower, upper).cte("ends")
    # Where the two fall together nobody is surely faster: the lower end comes first.
    before = func.sum(ends.c.upper).over(order_by=(ends.c.at, ends.c.upper), rows=(None, 0))
    counted = select(ends, (before + 1).label("rank")).cte("counted")
    return select(counted).where(counted.c.upper == 0).cte("ranks")


def ranked(
    session: Session,
    challenge: str,
    version: int,
    device: str,
    language: Language | None = None,
    limit: int | None = None,
    offset: int = 0,
) -> list[LeaderboardEntry]:
    """All entries, or ``limit`` of them from the one after ``offset`` on; their ranks are those on the whole board."""
    rows = session.execute(rank_query(challenge, version, device, language, limit, offset))
    return [
        LeaderboardEntry(
            rank=rank,
            user=user,
            submission=submission,
            language=chosen,
            time_us=time_us,
            ci_us=(low, high),
            speedup=speedup,
            submitted_at=submitted_at,
        )
        for rank, user, submission, chosen, time_us, low, high, speedup, submitted_at in rows
    ]


def boards(session: Session, challenge: str, version: int) -> set[str]:
    """Devices that hold an entry of this challenge version."""
    row = SubmissionRow
    found = session.scalars(
        select(row.device).where(row.challenge == challenge, row.version == version, text(RANKED)).distinct()
    )
    return set(found)
