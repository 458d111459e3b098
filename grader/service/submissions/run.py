"""Running a source on the public cases only: no rank, no attempt, an answer within seconds."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.records.leases import end_cancelled
from grader.records.models import SubmissionRow
from grader.schemas.own_case import OwnCase
from grader.schemas.submission import JudgingReason, RunBody, SubmissionView
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.service.submissions import quotas
from grader.service.submissions.submit import SubmitOrder, take


def run(platform: Platform, user: User, body: RunBody, idempotency_key: str | None = None) -> SubmissionView:
    """Store a run and queue it. It is judged like a submission, in the same boxes, on the public cases only. The user's
    unfinished runs for the same challenge are cancelled: they wait for the newest.

    With a key that this user sent before, the first run is returned. ``remaining``: how many more are possible for now.
    Raises as ``submit`` does; TooMany by limits of its own.
    """
    return take(platform, user, SubmitOrder.of(body, idempotency_key, run=True), _counted)


def _counted(session: Session, platform: Platform, user: User, row: SubmissionRow) -> int:
    # In the same transaction: if the new one is refused, the old one continues.
    _supersede(session, row)
    if row.own_case is not None and OwnCase.model_validate_json(row.own_case).tool is not None:
        quotas.take_card_tool(session, user, row.created_at)
    return quotas.take_run(session, platform.settings, user, row.created_at)


def _supersede(session: Session, new: SubmissionRow) -> None:
    """End the user's unfinished runs for the challenge at once: a worker that has one learns that it lost it, and its
    verdict would come too late."""
    unfinished = session.execute(
        select(SubmissionRow.id, SubmissionRow.attempt)
        .where(SubmissionRow.user_id == new.user_id, SubmissionRow.finished_at.is_(None))
        .where(SubmissionRow.kind == JudgingReason.RUN, SubmissionRow.challenge == new.challenge)
        .order_by(SubmissionRow.id)
        .with_for_update()
    ).all()
    for submission, attempt in unfinished:
        end_cancelled(session, submission, attempt, new.created_at)
