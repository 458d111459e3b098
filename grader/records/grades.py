"""Every judgement of a challenge, by student and time, for points.

A course has tens of thousands, so they are read from one index and stay in the database's form.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sqlalchemy import String, case, func, select, text, type_coerce
from sqlalchemy.orm import Session

from grader.records.models import SubmissionRow
from grader.records.models.indexes import JUDGED
from grader.schemas.report import Verdict

_SQLITE_TIME = "%Y-%m-%d %H:%M:%S.%f"
# With more ids, reading everything is faster.
_NAMED = 50


class Judgement(NamedTuple):
    challenge: str
    user: int
    # Received, in the database's form.
    at: Any
    id: int
    public_id: str
    verdict: str
    speedup: float | None
    device: str
    version: int
    rejudge_of: int | None
    set_aside: str | None
    language: str
    # Of the correctness points, earned by groups of cases.
    credit: float | None


def judgements(
    session: Session, challenges: Collection[str], users: Collection[int] | None = None
) -> Sequence[Sequence[Any]]:
    """With the fields of Judgement, by challenge and student, oldest first."""
    # Making objects takes as long as reading.
    table = SubmissionRow.__table__.c
    at = type_coerce(table.created_at, String) if _sqlite(session) else table.created_at
    query = (
        select(
            *(
                table.challenge,
                table.user_id,
                at,
                table.id,
                table.public_id,
                type_coerce(table.verdict, String),
            ),
            *(table.speedup, table.device, table.version, table.rejudge_of),
            *(type_coerce(table.set_aside, String), type_coerce(table.language, String), table.credit),
        )
        .where(table.challenge.in_(challenges), text(JUDGED))
        .order_by(table.challenge, table.user_id, table.created_at, table.id)
    )
    if users is not None and len(users) <= _NAMED:
        query = query.where(table.user_id.in_(users))
    found = session.connection().execute(query)
    # Nothing needs conversion.
    rows: Sequence[Sequence[Any]] = found.cursor.fetchall()
    found.close()
    return rows


def stamps(session: Session, challenges: Collection[str]) -> dict[int, tuple[Any, ...]]:
    """Per user; changes with their judgements of these challenges."""
    table = SubmissionRow.__table__.c
    ours = type_coerce(table.verdict, String) == Verdict.INTERNAL_ERROR.value
    # By challenge, too, PostgreSQL would take twice as long.
    query = (
        select(
            *(table.user_id, func.count(), func.sum(case((ours, 1), else_=0)), func.max(table.id)),
            func.sum(case((table.set_aside.is_(None), table.id), else_=0)),
        )
        .where(table.challenge.in_(challenges), text(JUDGED))
        .group_by(table.user_id)
    )
    return {user: tuple(map(int, counted)) for user, *counted in session.connection().execute(query)}


def stored(session: Session, at: datetime) -> Any:
    return at.astimezone(UTC).strftime(_SQLITE_TIME) if _sqlite(session) else at


def moment(at: Any) -> datetime:
    """``Judgement.at`` in UTC."""
    if isinstance(at, datetime):
        return at.astimezone(UTC)
    return datetime.fromisoformat(at).replace(tzinfo=UTC)


def _sqlite(session: Session) -> bool:
    return session.get_bind().dialect.name == "sqlite"
