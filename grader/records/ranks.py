"""THE rank query: web, API and CLI all show what comes out of here."""

from __future__ import annotations

from typing import Any

from sqlalchemy import CTE, Select, func, literal, select, text, union_all
from sqlalchemy.orm import Session

from grader.records.models import SubmissionRow, UserRow
from grader.records.models.indexes import RANKED
from grader.schemas.report import Language
from grader.schemas.submission import LeaderboardEntry


def rank_query(challenge: str, version: int, device: str, language: Language | None = None) -> Select[Any]:
    """One entry per user, with ranks.

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
            func.row_number().over(partition_by=row.user_id, order_by=order).label("of_user"),
        )
        .where(row.challenge == challenge, row.version == version, row.device == device, text(RANKED))
        .where(*([row.language == language] if language else []))
        .cte("accepted")
    )
    entries = (
        select(accepted.c.id, accepted.c.ci_lo_us, accepted.c.ci_hi_us)
        .where(accepted.c.of_user == 1)
        .cte("entries")
    )
    ranks = _ranks(entries)
    return (
        select(
            ranks.c.rank,
            UserRow.name,
            row.public_id,
            row.language,
            row.time_us,
            row.ci_lo_us,
            row.ci_hi_us,
            row.speedup,
            row.created_at,
        )
        .select_from(ranks)
        .join(row, row.id == ranks.c.id)
        .join(UserRow, UserRow.id == row.user_id)
        .order_by(ranks.c.rank, row.time_us, row.created_at, row.id)
    )


def _ranks(entries: CTE) -> CTE:
    """Id and rank of each entry. The ends of all intervals are put in a row: as many upper ends as lie before an
    entry's lower end, so many are surely faster. Comparing each with each would take the square of their number.
    """
    lower = select(entries.c.id, entries.c.ci_lo_us.label("at"), literal(0).label("upper"))
    upper = select(entries.c.id, entries.c.ci_hi_us.label("at"), literal(1).label("upper"))
    ends = union_all(lower, upper).cte("ends")
    # Where the two fall together nobody is surely faster: the lower end comes first.
    before = func.sum(ends.c.upper).over(order_by=(ends.c.at, ends.c.upper), rows=(None, 0))
    counted = select(ends.c.id, ends.c.upper, (before + 1).label("rank")).cte("counted")
    return select(counted.c.id, counted.c.rank).where(counted.c.upper == 0).cte("ranks")


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
    query = rank_query(challenge, version, device, language).limit(limit).offset(offset or None)
    rows = session.execute(query)
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
