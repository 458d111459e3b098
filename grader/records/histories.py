"""Lists of what was submitted, and of what was only run, the newest first."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, TextClause, func, or_, select, text
from sqlalchemy.orm import Session, defer, joinedload

from grader import limits
from grader.languages import Language
from grader.records.models import ReportRow, SubmissionRow
from grader.records.models.indexes import HANDED_IN, RUN

# A platform where nobody uses torch is not read to its beginning.
_SEARCHED = 64


@dataclass(frozen=True)
class History:
    """Of one user (by the row's id) or of everyone, at one challenge or at all. ``runs``: these instead."""

    user: int | None = None
    challenge: str | None = None
    runs: bool = False

    def conditions(self) -> list[ColumnElement[bool] | TextClause]:
        row = SubmissionRow
        found: list[ColumnElement[bool] | TextClause] = [text(RUN if self.runs else HANDED_IN)]
        if self.user is not None:
            found.append(row.user_id == self.user)
        if self.challenge is not None:
            found.append(row.challenge == self.challenge)
        return found


def count(session: Session, history: History) -> int:
    """How many there are, at most ``limits.LISTED_MOST``."""
    found = select(SubmissionRow.id).where(*history.conditions()).limit(limits.LISTED_MOST).subquery()
    return session.scalar(select(func.count()).select_from(found)) or 0


def page(
    session: Session, history: History, limit: int, offset: int = 0, older_than: SubmissionRow | None = None
) -> Sequence[SubmissionRow]:
    """``limit`` rows without their sources, with their users. ``older_than`` begins behind that row, however deep it
    lies at the same cost; ``offset`` has the database count.
    """
    row = SubmissionRow
    behind: list[ColumnElement[bool]] = []
    if older_than is not None:
        at = older_than.created_at
        # The first of the two is what an index can begin at.
        behind = [row.created_at <= at, or_(row.created_at < at, row.id < older_than.id)]
    return session.scalars(
        select(row)
        .where(*history.conditions(), *behind)
        .options(joinedload(row.user), defer(row.source, raiseload=True))
        .order_by(row.created_at.desc(), row.id.desc())
        .limit(limit)
        .offset(offset)
    ).all()


def last_versions(session: Session) -> dict[str, str]:
    """The versions of python, torch and triton that the newest report on a submission with torch names. Empty where
    none of the newest ``_SEARCHED`` reports is on one."""
    newest = (
        select(ReportRow.submission_id, ReportRow.attempt)
        .order_by(ReportRow.submission_id.desc())
        .limit(_SEARCHED)
        .subquery()
    )
    body = session.scalar(
        select(ReportRow.body)
        .join(
            newest,
            (ReportRow.submission_id == newest.c.submission_id) & (ReportRow.attempt == newest.c.attempt),
        )
        .join(SubmissionRow, SubmissionRow.id == ReportRow.submission_id)
        .where(SubmissionRow.language.in_([it for it in Language if it.torch]))
        .order_by(ReportRow.submission_id.desc())
        .limit(1)
    )
    environment = json.loads(body).get("environment", {}) if body else {}
    return {
        name: environment[f"box_{name}"]
        for name in ("python", "torch", "triton")
        if f"box_{name}" in environment
    }
