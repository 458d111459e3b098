"""Runs on public cases: no rank, no attempt."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.records import order
from grader.records.leases import end_cancelled
from grader.records.models import SubmissionRow
from grader.schemas.own_case import OwnCase
from grader.schemas.submission import JudgingReason, RunBody, SubmissionView
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.service.submissions import budgets, quotas
from grader.service.submissions.submit import SubmitOrder, take


def run(platform: Platform, user: User, body: RunBody, idempotency_key: str | None = None) -> SubmissionView:
    """Cancels the user's unfinished runs for the challenge. A repeated key returns its first run. Raises as
    ``submit``; TooMany by limits for runs."""
    return take(platform, user, SubmitOrder.of(body, idempotency_key, run=True), _counted)


def _counted(session: Session, platform: Platform, user: User, row: SubmissionRow) -> int:
    # In one transaction: if the new run is refused, the old one continues.
    _supersede(session, row)
    budgets.admit(session, platform.settings, user, row)
    if row.own_case is not None and OwnCase.model_validate_json(row.own_case).tool is not None:
        quotas.take_card_tool(session, user, row.created_at)
    return quotas.take_run(session, platform.settings, user, row.created_at)


def _supersede(session: Session, new: SubmissionRow) -> None:
    """A worker loses its lease, so its verdict is dropped."""
    unfinished = session.execute(
        select(SubmissionRow.id, SubmissionRow.attempt)
        .where(SubmissionRow.user_id == new.user_id, SubmissionRow.finished_at.is_(None))
        .where(SubmissionRow.kind == JudgingReason.RUN, SubmissionRow.challenge == new.challenge)
        # A batch's run is nobody's last try.
        .where(SubmissionRow.priority != order.BATCH)
        .order_by(SubmissionRow.id)
        .with_for_update()
    ).all()
    for submission, attempt in unfinished:
        end_cancelled(session, submission, attempt, new.created_at)
