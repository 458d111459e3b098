"""When the best time of a board fell."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from grader.records.models import SubmissionRow
from grader.records.ranks import Board, Place, conditions


def record_steps(session: Session, board: Board, without: Collection[int] = ()) -> list[Place]:
    """Submissions that were better than all before them, the oldest first; their rank is 0.

    A record is what is surely reached, as a user's entry is: the upper end of the interval lies below all earlier
    ones, and so does the time. Out of the board's index alone, in one pass.
    """
    row = SubmissionRow
    before = func.min(row.ci_hi_us).over(order_by=(row.created_at, row.id), rows=(None, -1))
    columns = (row.id, row.user_id, row.time_us, row.ci_lo_us, row.ci_hi_us, row.created_at)
    ended = (
        select(*columns, before.label("before"))
        .where(*conditions(board), *([row.user_id.not_in(without)] if without else []))
        .subquery()
    )
    it = ended.c
    lower = session.execute(
        select(it.id, it.user_id, it.time_us, it.ci_lo_us, it.ci_hi_us)
        .where(or_(it.before.is_(None), it.ci_hi_us < it.before))
        .order_by(it.created_at, it.id)
    )
    steps: list[Place] = []
    for found in lower:
        place = Place(0, *found)
        if not steps or place.time_us < steps[-1].time_us:
            steps.append(place)
    return steps
