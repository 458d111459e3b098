"""Entries of boards for tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import update

from grader.records.engine import writing
from grader.records.models import ReportRow, SubmissionRow, UserRow
from grader.schemas.account import Role
from grader.schemas.report import Report, Verdict, WorkloadReport
from grader.schemas.submission import State
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from tests.records.rows import accepted, add_submission, add_user

SLUG = "scale"
START = datetime(2024, 1, 1, tzinfo=UTC)


def person(platform: Platform, name: str, role: Role = Role.STUDENT, anonymous: bool = False) -> User:
    own = add_user(platform.sessions, name)
    with writing(platform.sessions) as session:
        given = {"role": role.value, "preferences": {"anonymous": True} if anonymous else {}}
        session.execute(update(UserRow).where(UserRow.id == own).values(given))
    return User(own, name, role)


def enter(
    platform: Platform, user: User, time_us: float, width: float = 1.0, hour: float = 0.0, **more: Any
) -> int:
    """Interval of ``width`` on both sides of ``time_us``."""
    given: dict[str, Any] = {
        "challenge": SLUG,
        "state": State.DONE,
        "verdict": Verdict.ACCEPTED,
        "created_at": START + timedelta(hours=hour),
        "time_us": time_us,
        "ci_lo_us": time_us - width,
        "ci_hi_us": time_us + width,
        "speedup": 100.0 / time_us,
    }
    return add_submission(platform.sessions, user.id, **(given | more))


def report(platform: Platform, submission: int, **more: Any) -> None:
    """Two ranked workloads with the geometric means 100 (eager), 50 (compile) and 20 (light), and one that is
    only shown.
    """
    workloads = [
        WorkloadReport(
            name=str(scale),
            sizes={"n": 10},
            ranked=ranked,
            time_us=40.0 * scale,
            ci_us=(40.0 * scale, 40.0 * scale),
            rounds=9,
            baselines_us={"eager": 100.0 * scale, "compile": 50.0 * scale},
            roofline_us=20.0 * scale,
        )
        for scale, ranked in ((0.5, True), (2.0, True), (900.0, False))
    ]
    told: Report = accepted().model_copy(update={"workloads": workloads, **more})
    with writing(platform.sessions) as session:
        session.add(ReportRow(submission_id=submission, attempt=1, body=told.model_dump_json()))


def remove(platform: Platform, submission: int) -> None:
    with writing(platform.sessions) as session:
        session.delete(session.get_one(SubmissionRow, submission))
