"""Queries for a profile, which read only that person's rows, or the first few of a challenge."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import case, func, select, text
from sqlalchemy.orm import Session, aliased

from grader import limits
from grader.device_kinds import resolution_of
from grader.languages import Language
from grader.records import competitions
from grader.records.models import ReportRow, SubmissionRow, UserRow
from grader.records.models.indexes import GRADED, HANDED_IN, RANKED
from grader.schemas.report import Verdict
from grader.schemas.submission import SetAside

_OWN = aliased(SubmissionRow, name="own")
_STUDENT = "student"


@dataclass(frozen=True)
class SubmissionEvent:
    challenge: str
    language: Language
    verdict: Verdict | None
    created_at: datetime
    set_aside: SetAside | None = None

    @property
    def accepted(self) -> bool:
        return self.verdict is Verdict.ACCEPTED and self.set_aside is not SetAside.VOID


@dataclass(frozen=True)
class BoardBest:
    """Times in microseconds."""

    id: int
    challenge: str
    version: int
    device: str
    language: Language
    time_us: float
    ci_us: tuple[float, float]
    speedup: float | None


def submission_events(session: Session, user: int, without: Sequence[int] = ()) -> list[SubmissionEvent]:
    """Newest first, at most ``limits.PROFILE_SUBMISSIONS``, outside the competitions ``without`` (ids)."""
    table = SubmissionRow
    found = session.execute(
        select(table.challenge, table.language, table.verdict, table.created_at, table.set_aside)
        .where(table.user_id == user, text(f"submissions.{HANDED_IN}"), *competitions.outside(without))
        .order_by(table.created_at.desc(), table.id.desc())
        .limit(limits.PROFILE_SUBMISSIONS)
    )
    return [SubmissionEvent(*each) for each in found]


def entries(session: Session, user: int) -> list[BoardBest]:
    table = SubmissionRow
    found = session.execute(
        select(
            *(table.id, table.challenge, table.version, table.device, table.language),
            *(table.time_us, table.ci_lo_us, table.ci_hi_us, table.speedup),
        )
        .where(table.user_id == user, text(RANKED))
        .order_by(table.time_us, table.created_at, table.id)
    )
    best: dict[tuple[str, int, str], BoardBest] = {}
    for each in found:
        best.setdefault((each.challenge, each.version, each.device), _entry(each))
    return list(best.values())


def ranks(session: Session, entries: Collection[BoardBest], without: Collection[int] = ()) -> dict[int, int]:
    """``BoardBest.id`` -> rank as in ``grader.records.ranks``, counted in the boards' index in one statement."""
    table, own = SubmissionRow, _OWN
    if not entries:
        return {}
    factor = case({entry.device: 1 + resolution_of(entry.device) for entry in entries}, value=own.device)
    faster = (
        select(func.count(table.user_id.distinct()))
        .where(
            table.challenge == own.challenge,
            table.version == own.version,
            table.device == own.device,
            table.time_us < own.time_us / factor,
            table.user_id.not_in(without),
            text(RANKED),
        )
        .correlate(own)
        .scalar_subquery()
    )
    found = session.execute(select(own.id, faster).where(own.id.in_([entry.id for entry in entries])))
    return {submission: 1 + count for submission, count in found}


def first_solved(session: Session, user: int, without: Sequence[int] = ()) -> set[str]:
    """Challenges that this student solved first. ``without``: competitions (ids)."""
    table, author, own = SubmissionRow, UserRow, _OWN
    # Worded like the condition of the progress index.
    solved = (
        select(own.challenge)
        .where(own.user_id == user, own.verdict == Verdict.ACCEPTED, text(f"own.{GRADED}"))
        .where(own.set_aside.is_distinct_from(SetAside.VOID), *competitions.outside(without, own))
        .distinct()
        .cte("solved")
    )
    first = (
        select(table.user_id)
        .join(author, author.id == table.user_id)
        .where(table.challenge == solved.c.challenge, text(f"submissions.{HANDED_IN}"))
        .where(table.verdict == Verdict.ACCEPTED, author.role == _STUDENT)
        .where(table.set_aside.is_distinct_from(SetAside.VOID), *competitions.outside(without))
        .order_by(table.created_at, table.id)
        .limit(1)
        .correlate(solved)
        .scalar_subquery()
    )
    return set(session.scalars(select(solved.c.challenge).where(first == user)))


def workloads(session: Session, submission: int) -> list[dict[str, Any]]:
    body = session.scalar(
        select(ReportRow.body)
        .where(ReportRow.submission_id == submission)
        .order_by(ReportRow.attempt.desc())
        .limit(1)
    )
    return list(json.loads(body).get("workloads", ())) if body else []


def _entry(each: Any) -> BoardBest:
    return BoardBest(
        each.id,
        each.challenge,
        each.version,
        each.device,
        each.language,
        each.time_us,
        (each.ci_lo_us, each.ci_hi_us),
        each.speedup,
    )
