"""What points are computed from: every judgement of a challenge, by student and time.

A course has tens of thousands of them, so they are read from one index alone and as the database has them: times are
compared as it stores them (``stored``), and only those that are shown become Python's.
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
# More ids than this in one query are slower than reading the others, too.
_NAMED = 50


class Judgement(NamedTuple):
    """``at`` is when it was received, as the database stores it. ``rejudge_of`` is the id of what it judges again;
    ``set_aside`` a word of ``SetAside``."""

    challenge: str
    user: int
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


def judgements(
    session: Session, challenges: Collection[str], users: Collection[int] | None = None
) -> Sequence[Sequence[Any]]:
    """Rows with the fields of Judgement: challenge by challenge, student by student, the oldest first."""
    # The table, not its class: what makes rows of objects costs as much as reading them.
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
            *(type_coerce(table.set_aside, String), type_coerce(table.language, String)),
        )
        .where(table.challenge.in_(challenges), text(JUDGED))
        .order_by(table.challenge, table.user_id, table.created_at, table.id)
    )
    if users is not None and len(users) <= _NAMED:
        query = query.where(table.user_id.in_(users))
    found = session.connection().execute(query)
    # Nothing is left to be converted, so the driver's own tuples do.
    rows: Sequence[Sequence[Any]] = found.cursor.fetchall()
    found.close()
    return rows


def stamps(session: Session, challenges: Collection[str]) -> dict[int, tuple[Any, ...]]:
    """By user what changes whenever one of their judgements of those challenges does, or another comes."""
    table = SubmissionRow.__table__.c
    ours = type_coerce(table.verdict, String) == Verdict.INTERNAL_ERROR.value
    # By user alone: PostgreSQL takes half as long as by challenge, too, and sends a twelfth of the rows.
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
    """A moment as ``Judgement.at`` has it, to compare with."""
    return at.astimezone(UTC).strftime(_SQLITE_TIME) if _sqlite(session) else at


def moment(at: Any) -> datetime:
    """``Judgement.at`` as a time in UTC."""
    if isinstance(at, datetime):
        return at.astimezone(UTC)
    return datetime.fromisoformat(at).replace(tzinfo=UTC)


def _sqlite(session: Session) -> bool:
    return session.get_bind().dialect.name == "sqlite"
