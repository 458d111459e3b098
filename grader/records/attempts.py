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
    challenge: str
    device: str
    count: int
    accepted: int
    speedup: float | None


def of_user(session: Session, user: int, without: Sequence[int] = ()) -> list[Attempts]:
    """Each submission once, outside the competitions ``without`` (ids), by its last judgement under a
    published version. Without cancelled ones, our failures and runs. A voided one is not accepted.
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
    # Only columns of the index ``ix_submissions_progress``.
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
    return [Attempts(*counted) for counted in found]
