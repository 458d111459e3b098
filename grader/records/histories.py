"""Lists of submissions or of runs, newest first."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, TextClause, func, or_, select, text, union
from sqlalchemy.orm import Session, defer, joinedload

from grader import limits
from grader.languages import Language
from grader.records.models import (
    AssignmentRow,
    FlagRow,
    MemberRow,
    PartnerRow,
    ReportRow,
    SimilarPairRow,
    SubmissionRow,
)
from grader.records.models.indexes import HANDED_IN, RUN
from grader.records.taught import belongs
from grader.schemas.course import CourseRole
from grader.schemas.report import Flag, Verdict
from grader.schemas.similarity import Decision

# Reports searched for one with torch.
_SEARCHED = 64


@dataclass(frozen=True)
class Taught:
    course: int
    challenges: Sequence[str]
    assignment: int | None = None


@dataclass(frozen=True)
class History:
    user: int | None = None
    challenge: str | None = None
    runs: bool = False
    verdict: Verdict | None = None
    flag: Flag | None = None
    # Received, both ends included.
    since: datetime | None = None
    until: datetime | None = None
    taught: Taught | None = None
    shared: bool = False

    def conditions(self) -> list[ColumnElement[bool] | TextClause]:
        table = SubmissionRow
        found: list[ColumnElement[bool] | TextClause] = [text(RUN if self.runs else HANDED_IN)]
        if self.user is not None:
            own = table.user_id == self.user
            if self.shared:
                with_partners = select(PartnerRow.submission_id).where(PartnerRow.user_id == self.user)
                own = own | table.id.in_(with_partners)
            found.append(own)
        if self.challenge is not None:
            found.append(table.challenge == self.challenge)
        if self.verdict is not None:
            found.append(table.verdict == self.verdict)
        if self.since is not None:
            found.append(table.created_at >= self.since)
        if self.until is not None:
            found.append(table.created_at <= self.until)
        if self.taught is not None:
            found += _of_course(self.taught)
        if self.flag is Flag.SIMILAR:
            found.append(table.public_id.in_(_similar()))
        return found

    @property
    def by_flag(self) -> bool:
        """The flag for similar submissions has a separate table."""
        return self.flag is not None and self.flag is not Flag.SIMILAR

    def narrow(self, query: Select[Any]) -> Select[Any]:
        if self.by_flag:
            query = query.join(FlagRow, FlagRow.submission_id == SubmissionRow.id).where(
                FlagRow.flag == self.flag
            )
        return query.where(*self.conditions())


def _of_course(taught: Taught) -> list[ColumnElement[bool]]:
    table, member = SubmissionRow, MemberRow
    # Narrows the search.
    students = select(member.user_id).where(
        member.course_id == taught.course, member.role == CourseRole.STUDENT.value
    )
    only = [AssignmentRow.id == taught.assignment] if taught.assignment is not None else []
    rule = belongs(member.course_id == taught.course, *only)
    if len(taught.challenges) == 1:
        of_challenges = table.challenge == taught.challenges[0]
    else:
        # An expression: each challenge's index would need a sort, the one of all is in order.
        of_challenges = table.challenge.concat("").in_(taught.challenges)
    return [of_challenges, (table.user_id + 0).in_(students), rule]


def _similar() -> Select[str]:
    pair = SimilarPairRow
    both = union(
        *(
            select(side.label("id")).where(pair.decision != Decision.DISMISSED)
            for side in (pair.submission, pair.other)
        )
    ).subquery()
    return select(both.c.id)


def count(session: Session, history: History) -> int:
    """At most ``limits.LISTED_MOST``."""
    found = history.narrow(select(SubmissionRow.id)).limit(limits.LISTED_MOST).subquery()
    return session.scalar(select(func.count()).select_from(found)) or 0


def page(
    session: Session, history: History, limit: int, offset: int = 0, older_than: SubmissionRow | None = None
) -> Sequence[SubmissionRow]:
    """``older_than`` costs the same at any depth; ``offset`` makes the database count. Without sources."""
    table = SubmissionRow
    received, number = (
        (FlagRow.received_at, FlagRow.submission_id) if history.by_flag else (table.created_at, table.id)
    )
    behind: list[ColumnElement[bool]] = []
    if older_than is not None:
        at = older_than.created_at
        # An index can start at the first condition.
        behind = [received <= at, or_(received < at, number < older_than.id)]
    return session.scalars(
        history.narrow(select(table))
        .where(*behind)
        .options(joinedload(table.user), defer(table.source, raiseload=True))
        .order_by(received.desc(), number.desc())
        .limit(limit)
        .offset(offset)
    ).all()


def last_versions(session: Session) -> dict[str, str]:
    """Of python, torch and triton, from the newest report with torch; may be empty."""
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
        .where(SubmissionRow.language.in_([language for language in Language if language.torch]))
        .order_by(ReportRow.submission_id.desc())
        .limit(1)
    )
    environment = json.loads(body).get("environment", {}) if body else {}
    return {
        name: environment[f"box_{name}"]
        for name in ("python", "torch", "triton")
        if f"box_{name}" in environment
    }
