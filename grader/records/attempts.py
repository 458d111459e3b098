"""What one user submitted, reduced to what progress is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import case, func, select, text
from sqlalchemy.orm import Session

from grader.records import competitions
from grader.records.models import SubmissionRow, VersionRow
from grader.records.models.indexes import GRADED
from grader.schemas.report import Verdict
from grader.schemas.submission import JudgingReason, State


@dataclass(frozen=True)
class Attempts:
    """All of one user's at one challenge on one device. ``speedup`` is the best of those that were accepted."""

    challenge: str
    device: str
    count: int
    accepted: int
    speedup: float | None


def of_user(session: Session, user: int, without: Sequence[int] = ()) -> list[Attempts]:
    """Everything that ``user`` submitted, as it counts today: each submission once. ``without``: competitions (ids) in
    which what was handed in is left out.

    What was judged again under a published version counts by that; anything else keeps its result. What was cancelled,
    or failed by our fault, is not there; nor is what was only run. What staff voided is an attempt, and not accepted.
    """
    table = SubmissionRow
    draft = (
        select(VersionRow.id)
        .where(
            VersionRow.challenge == table.challenge,
            VersionRow.version == table.version,
            VersionRow.published_at.is_(None),
        )
        .exists()
    )
    later = func.row_number().over(
        partition_by=func.coalesce(table.rejudge_of, table.id),
        order_by=(table.version.desc(), table.id.desc()),
    )
    # Of columns that one index holds (``ix_submissions_progress``): the most diligent have thousands of rows.
    judged = (
        select(
            table.challenge, table.device, table.verdict, table.speedup, table.set_aside, later.label("later")
        )
        .where(
            table.user_id == user,
            text(f"submissions.{GRADED}"),
            table.state.not_in([State.CANCELLED, State.FAILED]),
            table.kind != JudgingReason.FINAL,
            *competitions.outside(without),
            # Judged again: only once there is a verdict, and staff have published the version.
            table.rejudge_of.is_(None) | ((table.state == State.DONE) & ~draft & table.set_aside.is_(None)),
        )
        .subquery()
    )
    accepted = (judged.c.verdict == Verdict.ACCEPTED) & judged.c.set_aside.is_(None)
    found = session.execute(
        select(
            judged.c.challenge,
            judged.c.device,
            func.count(),
            func.count(case((accepted, 1))),
            func.max(case((accepted, judged.c.speedup))),
        )
        .where(judged.c.later == 1)
        .group_by(judged.c.challenge, judged.c.device)
    )
    return [Attempts(*it) for it in found]
