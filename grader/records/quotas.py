"""A counter per user and scope. The UPDATE has the condition, so concurrent requests cannot pass a limit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Insert, and_, case, func, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from grader.records.models import QuotaRow, SubmissionRow
from grader.schemas.submission import JudgingReason, State

WAITING = "waiting"
# Waiting or running, and of the last hour; for all challenges.
RUNNING = "running"
RUNS = "runs"
CARD_TOOLS = "card-tools"


def of_challenge(slug: str) -> str:
    return f"challenge:{slug}"


@dataclass(frozen=True)
class Use:
    """A counter with a window becomes free at ``frees_at``."""

    used: int
    frees_at: datetime | None = None


def take(
    session: Session, user: int, scope: str, limit: int, now: datetime, window_s: float | None = None
) -> int | None:
    """The new count, or None if ``limit`` is reached.

    With ``window_s`` the counter restarts that many seconds after the first one that it counts.
    """
    free: ColumnElement[bool] = QuotaRow.used < limit
    values: dict[str, Any] = {"used": QuotaRow.used + 1}
    if window_s is not None:
        over = or_(QuotaRow.since <= now - timedelta(seconds=window_s), QuotaRow.used == 0)
        free = or_(free, over)
        values = {
            "used": case((over, 1), else_=QuotaRow.used + 1),
            "since": case((over, now), else_=QuotaRow.since),
        }
    statement = (
        update(QuotaRow)
        .where(*_is(user, scope), free)
        .values(values)
        .returning(QuotaRow.used)
        .execution_options(synchronize_session=False)
    )
    used = session.scalar(statement)
    if used is None:
        session.execute(_insert(session).values(user_id=user, scope=scope, used=0, since=now))
        used = session.scalar(statement)
    return used


def give_back(session: Session, user: int, scope: str, counted_at: datetime | None = None) -> None:
    """With ``counted_at``, only if that is within the present window."""
    conditions = [QuotaRow.used > 0]
    if counted_at is not None:
        conditions.append(QuotaRow.since <= counted_at)
    session.execute(
        update(QuotaRow)
        .where(*_is(user, scope), *conditions)
        .values(used=QuotaRow.used - 1)
        .execution_options(synchronize_session=False)
    )


def recount_waiting(session: Session, user: int, scope: str = WAITING) -> None:
    """After a restored backup or manual changes."""
    counter = select(QuotaRow.used).where(*_is(user, scope)).with_for_update()
    session.execute(counter)  # locks the counter until the count below
    waiting = unfinished(session, user, scope)
    session.execute(
        update(QuotaRow)
        .where(*_is(user, scope))
        .values(used=waiting)
        .execution_options(synchronize_session=False)
    )


def unfinished(session: Session, user: int, scope: str = WAITING) -> int:
    """What the counter of ``WAITING`` or ``RUNNING`` counts."""
    table = SubmissionRow
    counted = table.kind == JudgingReason.RUN if scope == RUNNING else table.kind != JudgingReason.RUN
    mine = (table.user_id == user, table.finished_at.is_(None), table.rejudge_of.is_(None), counted)
    return session.scalar(select(func.count()).where(*mine)) or 0


def read(session: Session, user: int, scope: str, now: datetime, window_s: float | None = None) -> Use:
    row = session.execute(select(QuotaRow.used, QuotaRow.since).where(*_is(user, scope))).one_or_none()
    if row is None or row.used == 0:
        return Use(0)
    if window_s is None:
        return Use(row.used)
    end = row.since + timedelta(seconds=window_s)
    return Use(row.used, end) if end > now else Use(0)


def open_of_token(session: Session, user: int, key: str) -> int:
    table = SubmissionRow
    mine = (table.user_id == user, table.finished_at.is_(None), table.token_key == key)
    return session.scalar(select(func.count()).where(*mine)) or 0


def day_of_token(session: Session, user: int, key: str, now: datetime) -> Use:
    """Runs included; without our failures, and submissions cancelled before they ran."""
    table, day = SubmissionRow, timedelta(days=1)
    began = and_(
        table.state != State.FAILED, or_(table.state != State.CANCELLED, table.claimed_at.is_not(None))
    )
    used, first = session.execute(
        select(func.count(), func.min(table.created_at)).where(
            table.user_id == user, table.token_key == key, table.created_at > now - day, began
        )
    ).one()
    return Use(used, first + day) if first is not None else Use(0)


def _is(user: int, scope: str) -> tuple[ColumnElement[bool], ...]:
    return (QuotaRow.user_id == user, QuotaRow.scope == scope)


def _insert(session: Session) -> Insert:
    if session.get_bind().dialect.name == "postgresql":
        return postgresql.insert(QuotaRow).on_conflict_do_nothing()
    return sqlite.insert(QuotaRow).on_conflict_do_nothing()
