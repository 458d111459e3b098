from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, select, update
from sqlalchemy.orm import Session

from grader import limits
from grader.records.claims import Claim
from grader.records.engine import changed
from grader.records.models import FlagRow, ReportRow, SubmissionRow
from grader.records.states import ACTIVE, move
from grader.schemas.report import Flag, Report, Verdict
from grader.schemas.submission import ProgressView, State

_FREE: dict[str, Any] = {"worker": None, "lease_until": None}


def hand_on(session: Session, held: Claim, artefact: str, now: datetime) -> bool:
    """Release to the workers that run it. False if the lease was lost or it should be cancelled."""
    return move(
        session,
        held.id,
        held.attempt,
        State.WAITING,
        SubmissionRow.cancel_requested.is_(False),
        artefact=artefact,
        progress={"since": now.isoformat()},
        error="",
        **_FREE,
    )


def renew(session: Session, held: Claim, until: datetime) -> bool:
    table = SubmissionRow
    statement = (
        update(table)
        .where(table.id == held.id, table.attempt == held.attempt, table.state.in_(ACTIVE))
        .values(lease_until=until)
        .execution_options(synchronize_session=False)
    )
    return changed(session, statement) == 1


def shorten(session: Session, longest: datetime) -> int:
    """One from before the clock was set back would last too long."""
    table = SubmissionRow
    statement = (
        update(table)
        .where(table.state.in_(ACTIVE), table.lease_until > longest)
        .values(lease_until=longest)
        .execution_options(synchronize_session=False)
    )
    return changed(session, statement)


@dataclass(frozen=True)
class LeaseState:
    held: bool
    cancel_requested: bool


def lease_state(session: Session, held: Claim) -> LeaseState:
    table = SubmissionRow
    wanted = session.execute(
        select(table.cancel_requested).where(
            table.id == held.id, table.attempt == held.attempt, table.state.in_(ACTIVE)
        )
    ).scalar_one_or_none()
    return LeaseState(held=wanted is not None, cancel_requested=bool(wanted))


def progress(session: Session, held: Claim, state: State, view: ProgressView) -> bool:
    """False if the lease was lost or the state must not follow."""
    # A submission that was given back keeps its attempt until the next claim: a worker presumed dead could
    # move it into a state that no lease ends.
    still = SubmissionRow.state.in_(ACTIVE)
    stored = view.model_dump(mode="json")
    return state in ACTIVE and move(session, held.id, held.attempt, state, still, progress=stored)


def finish(session: Session, held: Claim, report: Report, now: datetime) -> bool:
    """False (and nothing stored) if the lease was lost."""
    done = move(
        session,
        held.id,
        held.attempt,
        State.DONE,
        verdict=report.verdict,
        # The judged version, perhaps no longer the newest.
        version=report.version,
        finished_at=now,
        error="",
        **_FREE,
        **_score(report, held.run),
    )
    if done:
        session.add(ReportRow(submission_id=held.id, attempt=held.attempt, body=report.model_dump_json()))
        put_flags(session, held.id, report.flags)
    return done


def put_flags(session: Session, submission: int, flags: Collection[Flag]) -> None:
    if not flags:
        return
    received = session.scalars(select(SubmissionRow.created_at).where(SubmissionRow.id == submission)).one()
    session.add_all(
        FlagRow(submission_id=submission, flag=flag, received_at=received) for flag in dict.fromkeys(flags)
    )


def finished(session: Session, submission: int, attempt: int) -> bool:
    """Whether this attempt gave the verdict."""
    table = ReportRow
    found = select(table.submission_id).where(table.submission_id == submission, table.attempt == attempt)
    return session.scalar(found) is not None


def _score(report: Report, run: bool) -> dict[str, Any]:
    score = report.score
    if run:
        # Runs are on no board.
        return {"passed": score.passed, "total": score.total}
    low, high = score.ci or (None, None)
    if score.time_us is not None and low is not None and high is not None:
        # Rounding must not put a time outside its interval.
        low, high = min(low, score.time_us), max(high, score.time_us)
    return {
        "time_us": score.time_us,
        "ci_lo_us": low,
        "ci_hi_us": high,
        "speedup": score.speedup,
        "credit": report.credit,
        "passed": score.passed,
        "total": score.total,
    }


def end_cancelled(session: Session, submission: int, attempt: int, now: datetime) -> bool:
    return move(session, submission, attempt, State.CANCELLED, finished_at=now, **_FREE)


def give_back(
    session: Session,
    submission: int,
    attempt: int,
    now: datetime,
    *conditions: ColumnElement[bool],
    error: str = "",
    cap: int | None = None,
    report: Report | None = None,
) -> State | None:
    """Returns its new state, or None if it was not held.

    With ``cap`` this is a failure of ours, and the cap-th one ends the submission. A requested cancellation
    comes first.
    """
    row = session.execute(
        select(SubmissionRow)
        .where(SubmissionRow.id == submission, SubmissionRow.attempt == attempt)
        # After hand_on nobody holds it, but its attempt stays.
        .where(SubmissionRow.state.in_(ACTIVE))
        .with_for_update()
        .execution_options(populate_existing=True)
    ).scalar_one_or_none()
    if row is None:
        return None
    if row.cancel_requested:
        return State.CANCELLED if end_cancelled(session, submission, attempt, now) else None
    failures = row.failures + (cap is not None)
    text = _storable(error[: limits.ERROR_TEXT_CHARS])
    if cap is None or failures < cap:
        back = move(
            session,
            submission,
            attempt,
            State.QUEUED,
            *conditions,
            failures=failures,
            error=text,
            progress={},
            **_FREE,
        )
        return State.QUEUED if back else None
    ended = move(
        session,
        submission,
        attempt,
        State.FAILED,
        *conditions,
        failures=failures,
        error=text,
        verdict=Verdict.INTERNAL_ERROR,
        finished_at=now,
        **_FREE,
    )
    if ended and report is not None:
        session.add(ReportRow(submission_id=submission, attempt=attempt, body=report.model_dump_json()))
    return State.FAILED if ended else None


def _storable(text: str) -> str:
    """PostgreSQL accepts neither NUL nor half a surrogate pair."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def expired(session: Session, now: datetime) -> list[tuple[int, int]]:
    table = SubmissionRow
    rows = session.execute(
        select(table.id, table.attempt).where(table.state.in_(ACTIVE), table.lease_until < now)
    )
    return [(found.id, found.attempt) for found in rows]


def reclaim(session: Session, submission: int, attempt: int, now: datetime, cap: int) -> State | None:
    """None if its worker came back in time."""
    return give_back(
        session,
        submission,
        attempt,
        now,
        SubmissionRow.lease_until < now,
        error="The worker that judged this stopped answering.",
        cap=cap,
    )
