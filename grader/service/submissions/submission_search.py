"""For operators, with the ids of logs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import ColumnElement, Select, select
from sqlalchemy.orm import Session

from grader import spreadsheet
from grader.errors import NotFound
from grader.languages import Language
from grader.records.engine import reading_on
from grader.records.models import SubmissionRow, UserRow, utcnow
from grader.schemas.report import Verdict
from grader.schemas.submission import JudgingReason, State
from grader.schemas.submission_search import FoundSubmission
from grader.service.platform import Platform

_BATCH = 500


@dataclass(frozen=True)
class SearchFilter:
    """None matches everything; without runs."""

    challenge: str | None = None
    user: str | None = None
    state: State | None = None
    verdict: Verdict | None = None
    device: str | None = None
    language: Language | None = None
    request: str | None = None
    since_days: float | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        wanted: list[ColumnElement[bool]] = [SubmissionRow.kind != JudgingReason.RUN]
        pairs = (
            (SubmissionRow.challenge, self.challenge),
            (SubmissionRow.state, self.state),
            (SubmissionRow.verdict, self.verdict),
            (SubmissionRow.device, self.device),
            (SubmissionRow.language, self.language),
            (SubmissionRow.request_id, self.request),
        )
        wanted += [column == value for column, value in pairs if value is not None]
        if self.user is not None:
            wanted.append(UserRow.name_key == self.user.lower())
        if self.since_days is not None:
            wanted.append(SubmissionRow.created_at >= utcnow() - timedelta(days=self.since_days))
        return wanted


def entries(platform: Platform, wanted: SearchFilter, limit: int | None = None) -> Iterator[FoundSubmission]:
    """Newest first, without sources and reports."""
    with reading_on(platform.sessions) as session:
        found = _select(*wanted.conditions()).order_by(
            SubmissionRow.created_at.desc(), SubmissionRow.id.desc()
        )
        yield from _read(session, found.limit(limit) if limit is not None else found)


def entry(platform: Platform, submission: str) -> FoundSubmission:
    """Raises NotFound."""
    with reading_on(platform.sessions) as session:
        found = list(_read(session, _select(SubmissionRow.public_id == submission.lower())))
    if not found:
        raise NotFound(
            f"There is no submission '{submission[:32]}'.", "`grader admin submissions` lists them."
        )
    return found[0]


_COLUMNS = {
    "id": SubmissionRow.public_id,
    "user": UserRow.name,
    **{
        name: getattr(SubmissionRow, name)
        for name in (
            "challenge version language device filename kind state verdict attempt failures worker error "
            "request_id time_us ci_lo_us ci_hi_us speedup passed total created_at started_at finished_at"
        ).split()
    },
}


def _select(*conditions: ColumnElement[bool]) -> Select[tuple[object, ...]]:
    columns = [column.label(name) for name, column in _COLUMNS.items()]
    return select(*columns).join(UserRow, UserRow.id == SubmissionRow.user_id).where(*conditions)


def _read(session: Session, statement: Select[tuple[object, ...]]) -> Iterator[FoundSubmission]:
    for row in session.execute(statement, execution_options={"yield_per": _BATCH}):
        yield FoundSubmission.model_validate(dict(row._mapping))


def as_csv(found: Iterator[FoundSubmission], bom: bool = False) -> Iterator[str]:
    yield (spreadsheet.BOM if bom else "") + spreadsheet.row(_COLUMNS)
    for entry in found:
        values = entry.model_dump(mode="json")
        yield spreadsheet.row(values[name] for name in _COLUMNS)
