"""Results shared by a secret link, without name and source."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, select, update
from sqlalchemy.orm import Session, defer

from grader.errors import Conflict, NotAllowed, NotFound
from grader.languages import Language
from grader.records import owners
from grader.records.engine import writing
from grader.records.models import ReportRow, SubmissionRow
from grader.records.models.submissions import SHARE_KEY_CHARS
from grader.schemas.report import BrokenRule, CaseReport, CaseVerdict, Report, Verdict
from grader.schemas.submission import JudgingReason, State
from grader.service.accounts.accounts import User
from grader.service.accounts.keys import new_key
from grader.service.platform import Platform
from grader.service.submissions.submissions import find

_KEY = re.compile(rf"[A-Za-z0-9_-]{{{SHARE_KEY_CHARS}}}")


@dataclass(frozen=True)
class SharedResult:
    """For ``templates/report``, without the owner."""

    challenge: str
    version: int
    language: Language
    device: str
    kind: JudgingReason
    state: State
    verdict: Verdict | None
    created_at: datetime
    report: Report
    error: str = ""
    user: str = ""


def share(platform: Platform, user: User, submission: str) -> str:
    """Raises NotFound, NotAllowed, Conflict (no result yet)."""
    with writing(platform.sessions) as session:
        row = _own(session, user, submission)
        if row.state is not State.DONE:
            raise Conflict(f"Submission {row.public_id} is {row.state}: there is no result to share.")
        if owners.of(session, row.challenge) is not None:
            raise NotAllowed(f"{row.challenge} belongs to a course, whose members alone may see it.")
        # Of two at once, the first makes the key for both.
        unshared = SubmissionRow.share_key.is_(None)
        _set(session, row, new_key(), unshared)
        return session.scalars(select(SubmissionRow.share_key).where(SubmissionRow.id == row.id)).one() or ""


def unshare(platform: Platform, user: User, submission: str) -> None:
    """Raises NotFound, NotAllowed."""
    with writing(platform.sessions) as session:
        _set(session, _own(session, user, submission), None)


def key_of(platform: Platform, user: User, submission: str) -> str | None:
    """For the owner. Raises NotFound."""
    with platform.sessions() as session:
        row = find(session, user, submission)
        return row.share_key if row.user_id == user.id else None


def shared(platform: Platform, key: str) -> SharedResult:
    """For anyone. Raises NotFound."""
    with platform.sessions() as session:
        row = _find(session, key)
        body = None
        if row is not None and row.state is State.DONE:
            body = session.scalar(
                select(ReportRow.body).where(
                    ReportRow.submission_id == row.id, ReportRow.attempt == row.attempt
                )
            )
        hidden = row is not None and owners.of(session, row.challenge) is not None
        if row is None or body is None or hidden:
            raise NotFound("Nothing is shared under this address.", "Its owner may have stopped sharing it.")
        return SharedResult(
            challenge=row.challenge,
            version=row.version,
            language=row.language,
            device=row.device,
            kind=row.kind,
            state=row.state,
            verdict=row.verdict,
            created_at=row.created_at,
            report=without_source(Report.model_validate_json(body).redacted()),
        )


def without_source(report: Report) -> Report:
    """Drops fields that may quote the source."""
    detail = "It does not compile." if report.verdict is Verdict.COMPILE_ERROR else ""
    update = {"compiler_log": "", "detail": detail, "hint": "", "kernels": [], "library_ops": []}
    rules = [
        BrokenRule(
            rule=rule.rule, name=rule.name, sentence=f"It breaks the rule for {rule.name.replace('_', ' ')}."
        )
        for rule in report.broken_rules
    ]
    cases = [_case_without_source(case) for case in report.cases]
    workloads = [workload.model_copy(update={"profile": None}) for workload in report.workloads]
    return report.model_copy(update=update | {"cases": cases, "workloads": workloads, "broken_rules": rules})


def _case_without_source(case: CaseReport) -> CaseReport:
    raised = case.verdict.failed and case.verdict is not CaseVerdict.WRONG_ANSWER
    plain = {"detail": f"It ended with {case.verdict.row.title.lower()}.", "hint": ""} if raised else {}
    return case.model_copy(update={"output": "", **plain})


def _own(session: Session, user: User, submission: str) -> SubmissionRow:
    row = find(session, user, submission)
    if row.user_id != user.id:
        raise NotAllowed("Only its author may share it.")
    return row


def _set(session: Session, row: SubmissionRow, key: str | None, *also: ColumnElement[bool]) -> None:
    session.execute(update(SubmissionRow).where(SubmissionRow.id == row.id, *also).values(share_key=key))


def _find(session: Session, key: str) -> SubmissionRow | None:
    if not _KEY.fullmatch(key):
        return None
    found = select(SubmissionRow).where(SubmissionRow.share_key == key).options(defer(SubmissionRow.source))
    return session.scalar(found)
