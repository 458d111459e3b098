"""THE rank query: web, API and CLI all show what comes out of here."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Select, and_, func, select
from sqlalchemy.orm import Session, aliased

from grader.records.models import SubmissionRow, UserRow
from grader.schemas.report import Language, Verdict
from grader.schemas.submission import LeaderboardEntry


def rank_query(challenge: str, version: int, device: str, language: Language | None = None) -> Select[Any]:
    """One entry per user, with ranks.

    A user's entry is the accepted submission whose upper time bound is smallest: what is surely reached, so
    that submitting again and again until one lucky measurement gains nothing. The rank is 1 + the number of
    entries whose interval lies wholly below (is surely faster), so entries that cannot be told apart share a
    rank. Sorted by rank, then by time, then by who was first.
    """
    row = SubmissionRow
    order = (row.ci_hi_us, row.time_us, row.created_at, row.id)
    accepted = (
        select(row.id, func.row_number().over(partition_by=row.user_id, order_by=order).label("of_user"))
        .where(
            and_(row.challenge == challenge, row.version == version, row.device == device),
            row.verdict == Verdict.ACCEPTED,
            row.time_us.is_not(None),
            row.ci_lo_us.is_not(None),
            row.ci_hi_us.is_not(None),
            *([row.language == language] if language else []),
        )
        .cte("accepted")
    )
    entries = (
        select(row).join(accepted, accepted.c.id == row.id).where(accepted.c.of_user == 1).cte("entries")
    )
    entry, faster = aliased(row, entries), entries.alias("faster")
    surely_faster = (
        select(func.count()).select_from(faster).where(faster.c.ci_hi_us < entry.ci_lo_us).scalar_subquery()
    )
    rank = (surely_faster + 1).label("rank")
    return (
        select(
            rank,
            UserRow.name,
            entry.public_id,
            entry.language,
            entry.time_us,
            entry.ci_lo_us,
            entry.ci_hi_us,
            entry.speedup,
            entry.created_at,
        )
        .join(UserRow, UserRow.id == entry.user_id)
        .order_by(rank, entry.time_us, entry.created_at, entry.id)
    )


def ranked(
    session: Session, challenge: str, version: int, device: str, language: Language | None = None
) -> list[LeaderboardEntry]:
    rows = session.execute(rank_query(challenge, version, device, language))
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
    """Devices that hold an accepted submission of this challenge version."""
    row = SubmissionRow
    found = session.scalars(
        select(row.device)
        .where(row.challenge == challenge, row.version == version, row.verdict == Verdict.ACCEPTED)
        .distinct()
    )
    return set(found)
