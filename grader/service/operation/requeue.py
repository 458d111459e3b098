from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import delete, select

from grader.errors import Conflict, NotFound
from grader.logs import get_logger
from grader.records import quotas, sources
from grader.records.engine import writing
from grader.records.models import ReportRow, SubmissionRow
from grader.records.states import move
from grader.schemas.submission import JudgingReason, State
from grader.schemas.submission_search import Requeued
from grader.service.platform import Platform

log = get_logger(__name__)


def requeue(platform: Platform, submissions: Sequence[str]) -> Requeued:
    """With all attempts again; without names all failed ones but runs. Raises NotFound, Conflict (not failed, or no
    source); then nothing is done."""
    wanted = [submission.lower() for submission in submissions] or _failed(platform)
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
                    f"Submission {public_id} is {row.state}: only submissions that the platform "
                    "failed to judge can be retried.",
                    "To judge again under a new version: `grader admin rejudge SLUG`.",
                )
            if not row.source:
                raise Conflict(
                    f"The source of submission {public_id} was deleted with its author's account.",
                    "It cannot be judged any more: leave it out.",
                )
            session.execute(delete(ReportRow).where(ReportRow.submission_id == row.id))
            session.expunge(row)
            fresh: dict[str, Any] = {
                "verdict": None,
                "error": "",
                "failures": 0,
                "finished_at": None,
                "progress": {},
            }
            free: dict[str, Any] = {"worker": None, "lease_until": None, "cancel_requested": False}
            score: dict[str, Any] = {"passed": None, "total": None}
            if move(session, row.id, row.attempt, State.QUEUED, reopen=True, **fresh, **free, **score):
                done.append(row)
        for user in {row.user_id for row in done}:
            quotas.recount_waiting(session, user)
            quotas.recount_waiting(session, user, quotas.RUNNING)
    for row in done:
        log.info("requeued", submission=row.public_id, request=row.request_id)
        platform.wakeups.announce(row.device, row.language)
    return Requeued(submissions=[row.public_id for row in done])


def _failed(platform: Platform) -> list[str]:
    with platform.sessions() as session:
        return list(
            session.scalars(
                select(SubmissionRow.public_id)
                .where(
                    SubmissionRow.state == State.FAILED,
                    SubmissionRow.kind != JudgingReason.RUN,
                    sources.present(),
                )
                .order_by(SubmissionRow.created_at)
            )
        )
