from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from grader.records import quotas
from grader.records.models import BatchEntryRow, BatchRow, SubmissionRow
from grader.schemas.batch import BatchResult
from grader.schemas.submission import ErrorBody, State

_KEYS = 500
REFUSED = "refused"


def unfinished(session: Session) -> Sequence[int]:
    """Oldest first."""
    return session.scalars(
        select(BatchRow.id).where(BatchRow.finished_at.is_(None)).order_by(BatchRow.id)
    ).all()


def locked(session: Session, batch: int) -> BatchRow | None:
    """Whoever ends entries holds the row. Lock it before submissions and quotas."""
    return session.scalar(
        select(BatchRow)
        .where(BatchRow.id == batch)
        .with_for_update()
        .execution_options(populate_existing=True)
    )


def known(session: Session, batch: int, keys: Sequence[str]) -> dict[str, str]:
    """Hashes of the requests that have these keys."""
    found: dict[str, str] = {}
    for start in range(0, len(keys), _KEYS):
        some = keys[start : start + _KEYS]
        rows = session.execute(
            select(BatchEntryRow.key, BatchEntryRow.request_sha256).where(
                BatchEntryRow.batch_id == batch, BatchEntryRow.key.in_(some)
            )
        )
        found |= {row.key: row.request_sha256 for row in rows}
    return found


def next_held(
    session: Session, batch: int, without: Collection[str], runs: bool | None = None
) -> BatchEntryRow | None:
    """The first entry that waits, in the order of arrival, of no scope of ``without``. ``runs``: only runs, or only
    submissions."""
    table = BatchEntryRow
    query = (
        select(table)
        .where(table.batch_id == batch, table.result.is_(None), table.request.is_not(None))
        .where(table.scope.not_in(without))
        .order_by(table.id)
        .limit(1)
    )
    if runs is not None:
        query = query.where(table.scope == quotas.RUNS if runs else table.scope != quotas.RUNS)
    return session.scalar(query)


def all_held(session: Session, batch: int) -> Sequence[BatchEntryRow]:
    table = BatchEntryRow
    return session.scalars(
        select(table)
        .where(table.batch_id == batch, table.result.is_(None), table.request.is_not(None))
        .order_by(table.id)
    ).all()


def open_of(session: Session, batch: int) -> int:
    """In the queue, or being judged."""
    table = BatchEntryRow
    mine = (table.batch_id == batch, table.result.is_(None), table.request.is_(None))
    return session.scalar(select(func.count()).where(*mine)) or 0


def open_submissions(session: Session, batch: int) -> Sequence[SubmissionRow]:
    table = BatchEntryRow
    return session.scalars(
        select(SubmissionRow)
        .join(table, table.submission_id == SubmissionRow.id)
        .where(table.batch_id == batch, table.result.is_(None))
        .order_by(SubmissionRow.id)
    ).all()


def has_ended(session: Session, batch: int) -> bool:
    """Whether ``collect`` would find something."""
    table = BatchEntryRow
    return (
        session.scalar(
            select(table.id)
            .join(SubmissionRow, SubmissionRow.id == table.submission_id)
            .where(table.batch_id == batch, table.result.is_(None), SubmissionRow.finished_at.is_not(None))
            .limit(1)
        )
        is not None
    )


def collect(session: Session, batch: BatchRow, now: datetime) -> None:
    """Give the entries whose submissions have ended their results. ``batch`` is locked."""
    entry, table = BatchEntryRow, SubmissionRow
    found = session.execute(
        select(entry, table)
        .join(table, table.id == entry.submission_id)
        .where(entry.batch_id == batch.id, entry.result.is_(None), table.finished_at.is_not(None))
        .order_by(table.finished_at, table.id)
    ).all()
    for ended, judged in found:
        end(batch, ended, _result(judged), now)


def _result(row: SubmissionRow) -> BatchResult:
    low, high = row.ci_lo_us, row.ci_hi_us
    failed = row.state is State.FAILED
    return BatchResult(
        line=0,
        submission=row.public_id,
        challenge=row.challenge,
        state=row.state,
        verdict=row.verdict,
        time_us=row.time_us,
        ci=(low, high) if low is not None and high is not None else None,
        speedup=row.speedup,
        passed=row.passed,
        total=row.total,
        error=ErrorBody(code="internal", message=row.error or "The platform failed.") if failed else None,
    )


def end(batch: BatchRow, entry: BatchEntryRow, result: BatchResult, now: datetime) -> None:
    """``result``: without number, line and id. ``batch`` is locked."""
    batch.ended += 1
    entry.number, entry.request = batch.ended, None
    whole = {"number": batch.ended, "line": entry.line, "id": entry.sender_id}
    entry.result = result.model_copy(update=whole).model_dump_json()
    kind = result.verdict or (REFUSED if result.state is None else result.state)
    batch.counts = batch.counts | {str(kind): batch.counts.get(str(kind), 0) + 1}
    if batch.ended == batch.entries:
        batch.finished_at, batch.held_for = now, ""


def results(session: Session, batch: int, after: int, most: int) -> Sequence[str]:
    table = BatchEntryRow
    return [
        text
        for text in session.scalars(
            select(table.result)
            .where(table.batch_id == batch, table.number > after)
            .order_by(table.number)
            .limit(most)
        )
        if text is not None
    ]


def scope_of(challenge: str, run: bool) -> str:
    return quotas.RUNS if run else quotas.of_challenge(challenge)
