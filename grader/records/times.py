"""A user's times for one board, from the index that boards are read from."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select, text
from sqlalchemy.orm import Session, load_only

from grader.records.models import SubmissionRow
from grader.records.models.indexes import RANKED


def latest(session: Session, like: SubmissionRow, limit: int) -> Sequence[SubmissionRow]:
    """What the owner of ``like`` has accepted with a time for the same challenge, version and device: the ``limit``
    newest, the oldest of them first."""
    row = SubmissionRow
    found = session.scalars(
        select(row)
        .where(
            text(RANKED),
            row.challenge == like.challenge,
            row.version == like.version,
            row.device == like.device,
            row.user_id == like.user_id,
        )
        .options(
            load_only(row.public_id, row.language, row.time_us, row.ci_lo_us, row.ci_hi_us, row.created_at)
        )
        .order_by(row.created_at.desc(), row.id.desc())
        .limit(limit)
    ).all()
    return found[::-1]
