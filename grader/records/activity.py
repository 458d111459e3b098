"""What one person's profile is made of. Each query reads that person's rows, or the first few of a challenge, by an
index: a term's million others are not touched.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import String, column, func, select, text, values
from sqlalchemy.orm import Session, aliased

from grader import limits
from grader.records.models import ReportRow, SubmissionRow, UserRow
from grader.records.models.indexes import HANDED_IN, RANKED
from grader.schemas.report import Language, Verdict

# Roles whose first solution takes the badge from nobody.
_STUDENT = "student"


@dataclass(frozen=True)
class Deed:
    """Something handed in."""

    challenge: str
    language: Language
    verdict: Verdict | None
    created_at: datetime

    @property
    def accepted(self) -> bool:
        return self.verdict is Verdict.ACCEPTED


@dataclass(frozen=True)
class Entry:
    """What stands for a person on one board, in microseconds."""

    id: int
    challenge: str
    version: int
    device: str
    language: Language
    time_us: float
    ci_us: tuple[float, float]
    speedup: float | None


def deeds(session: Session, user: int) -> list[Deed]:
    """The newest first, at most ``limits.PROFILE_DEEDS``."""
    row = SubmissionRow
    found = session.execute(
        select(row.challenge, row.language, row.verdict, row.created_at)
        .where(row.user_id == user, text(f"submissions.{HANDED_IN}"))
        .order_by(row.created_at.desc(), row.id.desc())
        .limit(limits.PROFILE_DEEDS)
    )
    return [Deed(*each) for each in found]


def entries(session: Session, user: int) -> list[Entry]:
    """One for each board of any version: that whose upper time bound is smallest, as in ``grader.records.ranks``."""
    row = SubmissionRow
    found = session.execute(
        select(
            *(row.id, row.challenge, row.version, row.device, row.language),
            *(row.time_us, row.ci_lo_us, row.ci_hi_us, row.speedup),
        )
        .where(row.user_id == user, text(RANKED))
        .order_by(row.ci_hi_us, row.time_us, row.created_at, row.id)
    )
    best: dict[tuple[str, int, str], Entry] = {}
    for each in found:
        best.setdefault((each.challenge, each.version, each.device), _entry(each))
    return list(best.values())


def rank(session: Session, entry: Entry, without: Collection[int] = ()) -> int:
    """1 + how many others are surely faster: they hold an accepted interval that lies wholly below. It is what
    ``grader.records.ranks`` finds for the whole board ``without`` these users (ids), counted from the board's index for
    one entry.
    """
    row = SubmissionRow
    faster = select(func.count(row.user_id.distinct())).where(
        row.challenge == entry.challenge,
        row.version == entry.version,
        row.device == entry.device,
        row.ci_hi_us < entry.ci_us[0],
        row.user_id.not_in(without),
        text(RANKED),
    )
    return 1 + (session.scalar(faster) or 0)


def first_solvers(session: Session, challenges: Sequence[str]) -> dict[str, int]:
    """Challenge -> the student whose accepted submission came first. Each is looked up from the oldest on, and the
    first hit ends it; all of them in one statement.
    """
    if not challenges:
        return {}
    row, author = aliased(SubmissionRow, name="submissions"), UserRow
    asked = values(column("challenge", String), name="named").data([(it,) for it in challenges]).cte("asked")
    first = (
        select(row.user_id)
        .join(author, author.id == row.user_id)
        .where(row.challenge == asked.c.challenge, text(f"submissions.{HANDED_IN}"))
        .where(row.verdict == Verdict.ACCEPTED, author.role == _STUDENT)
        .order_by(row.created_at, row.id)
        .limit(1)
        .scalar_subquery()
    )
    found = session.execute(select(asked.c.challenge, first)).all()
    return {challenge: user for challenge, user in found if user is not None}


def workloads(session: Session, submission: int) -> list[dict[str, Any]]:
    """Of the report that counted; none where it was pruned."""
    body = session.scalar(
        select(ReportRow.body)
        .where(ReportRow.submission_id == submission)
        .order_by(ReportRow.attempt.desc())
        .limit(1)
    )
    return list(json.loads(body).get("workloads", ())) if body else []


def _entry(each: Any) -> Entry:
    """Of a row that is ranked: neither time nor interval is missing."""
    return Entry(
        each.id,
        each.challenge,
        each.version,
        each.device,
        each.language,
        each.time_us,
        (each.ci_lo_us, each.ci_hi_us),
        each.speedup,
    )
