from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session, aliased

from grader.languages import Language
from grader.records.models import SubmissionRow, VersionRow
from grader.records.models.indexes import GRADED
from grader.schemas.report import Verdict
from grader.schemas.submission import JudgingReason, State


@dataclass(frozen=True)
class AcceptedKernel:
    """``id`` is the judgement's, the others are the submission's."""

    id: int
    first: int
    public_id: str
    challenge: str
    version: int
    language: Language
    device: str
    time_us: float | None
    ci_lo_us: float | None
    ci_hi_us: float | None
    speedup: float | None
    competition: int | None
    withdrawn_at: datetime | None
    submitted_at: datetime
    filename: str


def accepted(session: Session, user: int) -> list[AcceptedKernel]:
    """Judgements that are accepted and count, without unpublished versions, and finals, whose sizes are
    hidden.
    """
    table, first = SubmissionRow, aliased(SubmissionRow)
    draft = (
        select(VersionRow.id)
        .where(
            VersionRow.challenge == table.challenge,
            VersionRow.version == table.version,
            VersionRow.published_at.is_(None),
        )
        .exists()
    )
    found = session.execute(
        select(
            *(table.id, first.id, first.public_id, table.challenge, table.version, table.language),
            *(table.device, table.time_us, table.ci_lo_us, table.ci_hi_us, table.speedup),
            *(table.competition_id, table.withdrawn_at, table.created_at, first.filename),
        )
        .join(first, first.id == func.coalesce(table.rejudge_of, table.id))
        .where(table.user_id == user, text(f"submissions.{GRADED}"), table.verdict == Verdict.ACCEPTED)
        .where(table.state == State.DONE, table.set_aside.is_(None), table.kind != JudgingReason.FINAL)
        .where(table.rejudge_of.is_(None) | ~draft)
        .order_by(table.id)
    )
    return [AcceptedKernel(*list(each)) for each in found]


def sources(session: Session, rows: Collection[int]) -> dict[int, str]:
    table = SubmissionRow
    found = session.execute(select(table.id, table.source).where(table.id.in_(rows)))
    return dict(found.all())
