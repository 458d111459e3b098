"""Giving what we failed to judge another try, once its cause is mended."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete, select, update

from grader.errors import Conflict, NotFound
from grader.logs import get_logger
from grader.records import quotas
from grader.records.engine import changed, writing
from grader.records.models import ReportRow, SubmissionRow
from grader.schemas.submission import JudgingReason, State
from grader.schemas.submission_search import Requeued
from grader.service.platform import Platform
from grader.wakeups import first_queue

log = get_logger(__name__)


def requeue(platform: Platform, submissions: Sequence[str]) -> Requeued:
    """Have failed submissions wait again, with all their tries; none named: all that failed, but for runs, which
    nobody waits for any more. It is the one way out of
    ``failed``: that verdict was ours, not the submission's.

    Raises NotFound, and Conflict for what has not failed; then nothing is done.
    """
    wanted = [it.lower() for it in submissions] or _failed(platform)
    done = []
    with writing(platform.sessions) as session:
        for public_id in wanted:
            row = session.scalar(
                select(SubmissionRow).where(SubmissionRow.public_id == public_id).with_for_update()
            )
            if row is None:
                raise NotFound(f"There is no submission '{public_id[:32]}'.")
            if row.state is not State.FAILED:
                raise Conflict(
                    f"Submission {public_id} is {row.state}: only what failed by our fault waits again.",
                    "`grader admin rejudge SLUG` judges again under a new version.",
                )
            session.execute(delete(ReportRow).where(ReportRow.submission_id == row.id))
            session.expunge(row)
            again = (
                update(SubmissionRow)
                .where(SubmissionRow.id == row.id, SubmissionRow.state == State.FAILED)
                .values(state=State.QUEUED, verdict=None, error="", failures=0, finished_at=None, progress={})
                .values(worker=None, lease_until=None, cancel_requested=False, passed=None, total=None)
                .execution_options(synchronize_session=False)
            )
            if changed(session, again):
                done.append(row)
        for user in {row.user_id for row in done}:
            quotas.recount_waiting(session, user)
            quotas.recount_waiting(session, user, quotas.RUNNING)
    for row in done:
        log.info("requeued", submission=row.public_id, request=row.request_id)
        platform.wakeups.enqueue(first_queue(row.device, row.language))
    return Requeued(submissions=[row.public_id for row in done])


def _failed(platform: Platform) -> list[str]:
    with platform.sessions() as session:
        row = SubmissionRow
        return list(
            session.scalars(
                select(row.public_id)
                .where(row.state == State.FAILED, row.kind != JudgingReason.RUN)
                .order_by(row.created_at)
            )
        )
