"""Marks for staff, taken out of reports: lists are filtered by them."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.records.models import FlagRow, SubmissionRow
from grader.schemas.report import Flag


def put(session: Session, submission: int, flags: Collection[Flag]) -> None:
    """Note the marks of the report that was stored just now."""
    if not flags:
        return
    received = session.scalars(select(SubmissionRow.created_at).where(SubmissionRow.id == submission)).one()
    session.add_all(
        FlagRow(submission_id=submission, flag=flag, received_at=received) for flag in dict.fromkeys(flags)
    )
