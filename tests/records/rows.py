"""Rows to test with."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from alembic import command
from sqlalchemy import Connection

from grader.languages import Language
from grader.records.claims import Claim, ClaimRequest, claim
from grader.records.engine import Sessions, writing
from grader.records.models import SubmissionRow, UserRow, utcnow
from grader.records.schema import alembic_config
from grader.schemas.report import CaseReport, CaseVerdict, Report, Score, Verdict

DEVICE = "cpu"


def downgrade(connection: Connection, revision: str) -> None:
    config = alembic_config()
    config.attributes["connection"] = connection
    command.downgrade(config, revision)


def add_user(sessions: Sessions, name: str = "ada") -> int:
    with writing(sessions) as session:
        row = UserRow(name=name, name_key=name, password_hash="-", role="student")
        session.add(row)
        session.flush()
        return row.id


def add_submission(sessions: Sessions, user: int, age_s: float = 0.0, **values: Any) -> int:
    """A waiting submission, sent ``age_s`` seconds ago."""
    given = {
        "challenge": "vector_add",
        "version": 1,
        "language": Language.TRITON,
        "device": DEVICE,
        "source": "pass",
        "filename": "a.py",
        "created_at": utcnow() - timedelta(seconds=age_s),
    }
    with writing(sessions) as session:
        row = SubmissionRow(user_id=user, **(given | values))
        session.add(row)
        session.flush()
        return row.id


def take(sessions: Sessions, worker: str = "w", lease_s: float = 30.0) -> Claim | None:
    with writing(sessions) as session:
        return claim(session, ClaimRequest(DEVICE, list(Language), worker, utcnow(), lease_s)).held


def read(sessions: Sessions, row: int) -> SubmissionRow:
    with sessions() as session:
        return session.get_one(SubmissionRow, row)


def accepted(time_us: float = 10.0, width: float = 1.0) -> Report:
    return Report(
        verdict=Verdict.ACCEPTED,
        challenge="vector_add",
        version=1,
        language=Language.TRITON,
        device=DEVICE,
        cases=[CaseReport(name="basic", category="basic", verdict=CaseVerdict.ACCEPTED)],
        score=Score(time_us=time_us, ci=(time_us - width, time_us + width), passed=1, total=1),
    )


def wrong() -> Report:
    case = CaseReport(name="basic", category="basic", verdict=CaseVerdict.WRONG_ANSWER, detail="0 is not 1")
    return Report(
        verdict=Verdict.WRONG_ANSWER,
        challenge="vector_add",
        version=1,
        language=Language.TRITON,
        device=DEVICE,
        cases=[case],
        score=Score(passed=0, total=1),
    )
