"""Reading submissions. A student sees their own and nobody else's; staff see all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session, joinedload

from grader.errors import Conflict, NotFound
from grader.records import order, rejudges
from grader.records.models import ReportRow, SubmissionRow, utcnow
from grader.schemas.report import Report, Score
from grader.schemas.submission import (
    JudgedAgain,
    ProgressView,
    SourceView,
    State,
    SubmissionList,
    SubmissionView,
)
from grader.service.accounts import User
from grader.service.platform import Platform

_LIST_MOST = 200


def get_submission(platform: Platform, user: User, submission: str) -> SubmissionView:
    """Raises NotFound, also for what belongs to someone else."""
    with platform.sessions() as session:
        row = find(session, user, submission)
        return _views(platform, session, user, [row])[0]


def list_submissions(
    platform: Platform,
    user: User,
    challenge: str | None = None,
    everyone: bool = False,
    limit: int = 50,
    offset: int = 0,
) -> SubmissionList:
    """The newest first, at most ``limit`` (up to 200). ``everyone`` counts for staff only.

    What was handed in: judgements of the same under later versions stand with the first one.
    """
    conditions: list[ColumnElement[bool]] = [SubmissionRow.rejudge_of.is_(None)]
    if not (everyone and user.staff):
        conditions.append(SubmissionRow.user_id == user.id)
    if challenge is not None:
        conditions.append(SubmissionRow.challenge == challenge)
    with platform.sessions() as session:
        total = session.scalar(select(func.count()).select_from(SubmissionRow).where(*conditions)) or 0
        rows = session.scalars(
            select(SubmissionRow)
            .where(*conditions)
            .options(joinedload(SubmissionRow.user))
            .order_by(SubmissionRow.created_at.desc(), SubmissionRow.id.desc())
            .limit(max(0, min(limit, _LIST_MOST)))
            .offset(max(0, offset))
        ).all()
        return SubmissionList(submissions=_views(platform, session, user, rows), total=total)


def get_source(platform: Platform, user: User, submission: str) -> SourceView:
    with platform.sessions() as session:
        row = find(session, user, submission)
        return SourceView(id=row.public_id, language=row.language, filename=row.filename, source=row.source)


def get_report(platform: Platform, user: User, submission: str) -> Report:
    """The report: whole for staff, without the data of hidden cases for others. Raises NotFound, and Conflict
    where there is none (yet)."""
    with platform.sessions() as session:
        row = find(session, user, submission)
        body = session.scalar(
            select(ReportRow.body).where(ReportRow.submission_id == row.id, ReportRow.attempt == row.attempt)
        )
    if body is None:
        hint = "" if row.state.final else "It comes when the submission is done; `grader watch` waits for it."
        raise Conflict(f"Submission {row.public_id} is {row.state}: it has no report.", hint)
    report = Report.model_validate_json(body)
    return report if user.staff else report.redacted()


def find(session: Session, user: User, submission: str) -> SubmissionRow:
    """The row that this user may see. Raises NotFound."""
    row = session.scalar(
        select(SubmissionRow)
        .where(SubmissionRow.public_id == submission.lower())
        .options(joinedload(SubmissionRow.user))
    )
    if row is None or not (user.staff or row.user_id == user.id):
        raise NotFound(f"There is no submission '{submission[:32]}'.", "`grader history` lists yours.")
    return row


@dataclass(frozen=True)
class _Queue:
    """One device's queue at one moment."""

    places: dict[int, int]
    running: int
    seconds_a_place: float | None


def _queue(platform: Platform, session: Session, device: str) -> _Queue:
    now = utcnow()
    pace = order.seconds_a_place(session, device, now, platform.settings.lease_s)
    return _Queue(order.positions(session, device, now), order.running(session, device), pace)


def _views(
    platform: Platform, session: Session, user: User, rows: Sequence[SubmissionRow]
) -> list[SubmissionView]:
    devices = {row.device for row in rows if order.is_pending(row)}
    queues = {device: _queue(platform, session, device) for device in devices}
    again = rejudges.judged_again(session, [row.id for row in rows], drafts=user.staff)
    firsts = rejudges.public_ids(session, [row.rejudge_of for row in rows if row.rejudge_of is not None])
    return [
        _view(row, queues.get(row.device)).model_copy(
            update={
                "rejudge_of": firsts[row.rejudge_of] if row.rejudge_of is not None else None,
                "judged_again": [_judged_again(it) for it in again.get(row.id, [])],
            }
        )
        for row in rows
    ]


def _judged_again(row: SubmissionRow) -> JudgedAgain:
    assert row.verdict is not None
    return JudgedAgain(id=row.public_id, version=row.version, verdict=row.verdict, time_us=row.time_us)


def _view(row: SubmissionRow, queue: _Queue | None) -> SubmissionView:
    place = queue.places.get(row.id) if queue else None
    return SubmissionView(
        id=row.public_id,
        user=row.user.name,
        challenge=row.challenge,
        version=row.version,
        language=row.language,
        device=row.device,
        filename=row.filename,
        state=row.state,
        verdict=row.verdict,
        score=_score(row),
        attempt=row.attempt,
        progress=ProgressView.model_validate(row.progress),
        position=place,
        expected_wait_s=_wait(queue, place) if queue and place else None,
        created_at=row.created_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
        error=row.error,
    )


def _wait(queue: _Queue, place: int) -> float | None:
    """Those ahead take their mean time each; what runs now is, on average, half done."""
    if queue.seconds_a_place is None:
        return None
    return round(queue.seconds_a_place * (place - 1 + queue.running / 2), 1)


def _score(row: SubmissionRow) -> Score | None:
    if row.state is not State.DONE:
        return None
    interval = None if row.ci_lo_us is None or row.ci_hi_us is None else (row.ci_lo_us, row.ci_hi_us)
    return Score(
        time_us=row.time_us, speedup=row.speedup, ci=interval, passed=row.passed or 0, total=row.total or 0
    )
