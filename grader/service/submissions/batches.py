"""Submissions in bulk. Lines wait in the database, and enter the queue a few at a time within their sender's limits:
when they come, when results are read, and with each sweep of a worker, so no client need stay."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from grader import limits
from grader.errors import BadRequest, Conflict, GraderError, NotFound, TooMany
from grader.logs import get_logger
from grader.records import batches as record
from grader.records import quotas as counters
from grader.records.engine import clock, writing
from grader.records.leases import end_cancelled
from grader.records.models import BatchEntryRow, BatchRow, SubmissionRow, UserRow
from grader.records.order import BATCH
from grader.records.states import FREE
from grader.schemas.batch import (
    BatchLine,
    BatchList,
    BatchQuery,
    BatchReceipt,
    BatchResult,
    BatchView,
)
from grader.schemas.submission import JudgingReason, State
from grader.service.accounts import tokens
from grader.service.accounts.accounts import User
from grader.service.courses import admission
from grader.service.platform import Platform
from grader.service.submissions import batch_lines, budgets, quotas
from grader.service.submissions.batch_lines import ReadLine
from grader.service.submissions.submit import announce, row_of, store

log = get_logger(__name__)

_LISTED = 50
_LOOK_SECONDS = 0.5
_TOKEN_ENDED = "Its token has ended or may not submit. Send the file again with a token that may."  # noqa: S105
# Waiting calls of this process.
_waits = threading.BoundedSemaphore(limits.BATCH_WAITS_AT_ONCE)


def receive(platform: Platform, user: User, query: BatchQuery, raw: bytes) -> BatchReceipt:
    """Adds lines to the user's batch ``query.name``, or begins it. Lines that it has are skipped; a bad one gets a
    result with its error. Raises BadRequest (too large, nothing in it), Conflict (cancelled), TooMany (unfinished
    batches)."""
    lines = batch_lines.read(platform, user, raw, query.first_line)
    if not lines:
        raise BadRequest("There is no line.", "Send one JSON object on each line.")
    with writing(platform.sessions) as session:
        # As for submissions: one user's calls take turns.
        session.execute(select(UserRow.id).where(UserRow.id == user.id).with_for_update(key_share=True))
        batch, now = _begun(session, user, query.name), clock(session)
        new = _unknown(session, batch, lines)
        _check_size(batch, new)
        batch.token_sha256 = user.token.sha256 if user.token is not None else None
        batch.entries += len(new)
        batch.bytes += sum(line.size for line in new)
        batch.held_for = ""
        if new:
            batch.finished_at = None
        for line in new:
            _add(session, batch, line, now)
        number = batch.id
    log.info("batch_received", batch=batch.public_id, user=user.name, lines=len(lines), new=len(new))
    _admitted(platform, number)
    return BatchReceipt(
        batch=get_batch(platform, user, batch.public_id),
        new=len(new),
        known=len(lines) - len(new),
        refused=sum(line.error is not None for line in new),
    )


def _begun(session: Session, user: User, name: str) -> BatchRow:
    """Raises Conflict, TooMany."""
    mine = (BatchRow.user_id == user.id,)
    if (found := session.scalar(select(BatchRow.id).where(*mine, BatchRow.name == name))) is not None:
        batch = record.locked(session, found)
        assert batch is not None
        if batch.cancelled_at is not None:
            raise Conflict(f"The batch '{name}' was cancelled.", "Send the lines in a batch of another name.")
        return batch
    going_on = session.scalar(select(func.count()).where(*mine, BatchRow.finished_at.is_(None))) or 0
    if going_on >= limits.BATCHES_AT_ONCE:
        raise TooMany(
            f"{going_on} of your batches have not ended, which is the limit.",
            "Wait until one ends, or cancel one.",
        )
    batch = BatchRow(user_id=user.id, name=name, entries=0, ended=0, bytes=0, counts={})
    session.add(batch)
    session.flush()
    return batch


def _unknown(session: Session, batch: BatchRow, lines: list[ReadLine]) -> list[ReadLine]:
    """Those that the batch does not have, once each; an id with other contents is an error."""
    known = record.known(session, batch.id, [line.key for line in lines])
    other = [
        batch_lines.in_use(line) for line in lines if known.setdefault(line.key, line.sha256) != line.sha256
    ]
    new = {line.key: line for line in lines if known[line.key] == line.sha256}
    new |= {line.key: line for line in other}
    had = record.known(session, batch.id, list(new))
    return sorted((line for key, line in new.items() if key not in had), key=lambda line: line.number)


def _check_size(batch: BatchRow, new: list[ReadLine]) -> None:
    """Raises BadRequest."""
    entries, size = batch.entries + len(new), batch.bytes + sum(line.size for line in new)
    if entries > limits.BATCH_ENTRIES or size > limits.BATCH_BYTES:
        raise BadRequest(
            f"The batch '{batch.name}' would have {entries:,} lines and {size:,} bytes; at most "
            f"{limits.BATCH_ENTRIES:,} lines and {limits.BATCH_BYTES:,} bytes are taken.",
            "Nothing of this part was taken. Send it in a batch of another name.",
        )


def _add(session: Session, batch: BatchRow, line: ReadLine, now: datetime) -> None:
    entry = BatchEntryRow(
        batch_id=batch.id,
        user_id=batch.user_id,
        key=line.key,
        request_sha256=line.sha256,
        line=line.number,
        sender_id=line.sender_id,
    )
    if line.request is not None:
        entry.scope = record.scope_of(line.request.challenge, line.request.run)
        entry.request = line.request.model_dump_json()
    session.add(entry)
    if line.error is not None:
        record.end(batch, entry, BatchResult(line=0, error=line.error), now)


def admit_all(platform: Platform) -> int:
    """Returns how many entered the queue. Several processes may do it at once."""
    with platform.sessions() as session:
        found = record.unfinished(session)
    return sum(_admitted(platform, batch) for batch in found)


def _admitted(platform: Platform, batch: int) -> int:
    """One broken batch must not hold up the others."""
    try:
        return admit(platform, batch)
    except Exception as error:
        log.warning("batch_not_admitted", row=batch, error=f"{type(error).__name__}: {error}")
        return 0


def admit(platform: Platform, batch: int) -> int:
    """Notes what has ended, then lets entries into the queue until a limit is reached. Returns how many."""
    with platform.sessions() as session:
        row = session.get(BatchRow, batch)
        if row is None or row.finished_at is not None:
            return 0
        ended = record.has_ended(session, batch)
        waits = record.next_held(session, batch, ()) is not None
        user = tokens.caller_later(session, session.get_one(UserRow, row.user_id), row.token_sha256)
    if ended:
        _collect(platform, batch)
    if not waits:
        return 0
    if user is None:
        _hold(platform, row, _TOKEN_ENDED)
        return 0
    count, why = _Wave(platform, user, batch).admit()
    _hold(platform, row, why)
    return count


def _collect(platform: Platform, batch: int) -> None:
    with writing(platform.sessions) as session:
        if (row := record.locked(session, batch)) is not None:
            record.collect(session, row, clock(session))


def _hold(platform: Platform, seen: BatchRow, why: str) -> None:
    if seen.held_for == why:
        return
    with writing(platform.sessions) as session:
        if (row := record.locked(session, seen.id)) is not None and row.finished_at is None:
            row.held_for = why


class _NoLongerHeld(Exception):
    """Another process was faster, or it was cancelled."""


class _Wave:
    def __init__(self, platform: Platform, user: User, batch: int) -> None:
        self._platform, self._user, self._batch = platform, user, batch

    def admit(self) -> tuple[int, str]:
        """How many entered, and the limit that holds the others ("": a place in the queue)."""
        count, full, why = 0, set[str](), ""
        while True:
            try:
                entry = self._next(full)
            except TooMany as error:
                return count, error.told
            if entry is None:
                return count, why
            try:
                count += self._enter(entry)
            except TooMany as error:
                full.add(entry.scope)
                why = error.told

    def _next(self, full: set[str]) -> BatchEntryRow | None:
        """Raises TooMany (the token's limits)."""
        settings, user = self._platform.settings, self._user.id
        with self._platform.sessions() as session:
            quotas.take_of_token(session, self._user, clock(session))
            waiting = counters.unfinished(session, user, counters.WAITING)
            running = counters.unfinished(session, user, counters.RUNNING)
            submissions = waiting < max(1, settings.waiting_per_user - limits.BATCH_LEAVES_WAITING)
            runs = running < max(1, settings.runs_at_once - limits.BATCH_LEAVES_RUNS)
            if not (submissions or runs):
                return None
            return record.next_held(session, self._batch, full, None if submissions and runs else runs)

    def _enter(self, entry: BatchEntryRow) -> bool:
        """Raises TooMany."""
        assert entry.request is not None
        try:
            order = batch_lines.order_of(BatchLine.model_validate_json(entry.request))
            row = row_of(self._platform, self._user, order)
            row.priority = BATCH
            stored = store(
                self._platform, self._user, row, order, functools.partial(self._count, entry.id), reuse=False
            )
        except _NoLongerHeld:
            return False
        except TooMany:
            raise
        except GraderError as error:
            self._refuse(entry.id, error)
            return False
        announce(self._platform, self._user, row, stored)
        return True

    def _count(
        self, number: int, session: Session, platform: Platform, user: User, row: SubmissionRow
    ) -> None:
        """In the transaction that stores the submission. Raises TooMany, NotAllowed."""
        entry = self._held(session, number)[1]
        budgets.admit(session, platform.settings, user, row)
        if row.kind is JudgingReason.RUN:
            quotas.take_run(session, platform.settings, user, row.created_at, limits.BATCH_LEAVES_RUNS)
        else:
            admission.admit(session, user, row)
            quotas.take(
                session, platform.settings, user, row.challenge, row.created_at, limits.BATCH_LEAVES_WAITING
            )
        session.add(row)
        session.flush()
        entry.submission_id, entry.request = row.id, None

    def _refuse(self, number: int, error: GraderError) -> None:
        with writing(self._platform.sessions) as session:
            try:
                batch, entry = self._held(session, number)
            except _NoLongerHeld:
                return
            record.end(batch, entry, BatchResult(line=0, error=batch_lines.refusal(error)), clock(session))

    def _held(self, session: Session, number: int) -> tuple[BatchRow, BatchEntryRow]:
        """Locked."""
        batch = record.locked(session, self._batch)
        entry = session.get(BatchEntryRow, number, populate_existing=True)
        if batch is None or entry is None or entry.request is None:
            raise _NoLongerHeld
        return batch, entry


def list_batches(platform: Platform, user: User) -> BatchList:
    """Newest first."""
    with platform.sessions() as session:
        rows = session.scalars(
            select(BatchRow).where(BatchRow.user_id == user.id).order_by(BatchRow.id.desc()).limit(_LISTED)
        ).all()
        return BatchList(batches=[_view(session, row) for row in rows])


def get_batch(platform: Platform, user: User, batch: str) -> BatchView:
    """Raises NotFound."""
    row = _of(platform, user, batch)
    with platform.sessions() as session:
        ended = record.has_ended(session, row.id)
    if ended:
        _collect(platform, row.id)
    with platform.sessions() as session:
        return _view(session, session.get_one(BatchRow, row.id))


def _of(platform: Platform, user: User, batch: str) -> BatchRow:
    with platform.sessions() as session:
        mine = (BatchRow.public_id == batch, BatchRow.user_id == user.id)
        row = session.scalar(select(BatchRow).where(*mine))
    if row is None:
        raise NotFound(f"You have no batch '{batch[:64]}'.", "GET /api/v1/batches lists yours.")
    return row


def _view(session: Session, row: BatchRow) -> BatchView:
    going_on = record.open_of(session, row.id)
    held = max(0, row.entries - row.ended - going_on)
    return BatchView(
        id=row.public_id,
        name=row.name,
        created_at=row.created_at,
        cancelled_at=row.cancelled_at,
        finished_at=row.finished_at,
        total=row.entries,
        held=held,
        open=going_on,
        ended=row.ended,
        counts=row.counts,
        held_for=row.held_for if held else "",
    )


def cancel(platform: Platform, user: User, batch: str) -> BatchView:
    """All that has not begun; what is being judged ends as usual. Idempotent. Raises NotFound."""
    row = _of(platform, user, batch)
    with writing(platform.sessions) as session:
        held = record.locked(session, row.id)
        if held is not None and held.finished_at is None:
            now = clock(session)
            held.cancelled_at = held.cancelled_at or now
            held.held_for = ""
            for entry in record.all_held(session, held.id):
                record.end(held, entry, BatchResult(line=0, state=State.CANCELLED), now)
            for judged in record.open_submissions(session, held.id):
                if judged.state in FREE:
                    end_cancelled(session, judged.id, judged.attempt, now)
    return get_batch(platform, user, batch)


def results(
    platform: Platform,
    user: User,
    batch: str,
    after: int = 0,
    limit: int = limits.BATCH_RESULTS,
    wait_s: float = 0.0,
    pause: Callable[[float], None] = time.sleep,
) -> list[str]:
    """JSON lines, numbered from ``after`` + 1. ``wait_s``: if there is none yet, wait for one, in as many calls as a
    process has threads for. Raises NotFound."""
    row = _of(platform, user, batch)
    found, finished = _results(platform, row.id, after, limit)
    if found or finished or wait_s <= 0 or not _waits.acquire(blocking=False):
        return found
    try:
        until = time.monotonic() + wait_s
        while not (found or finished) and (left := until - time.monotonic()) > 0:
            pause(min(_LOOK_SECONDS, left))
            found, finished = _results(platform, row.id, after, limit)
        return found
    finally:
        _waits.release()


def _results(platform: Platform, batch: int, after: int, limit: int) -> tuple[list[str], bool]:
    with platform.sessions() as session:
        ended = record.has_ended(session, batch)
    if ended:
        # Its places are free for others of the batch.
        admit(platform, batch)
    with platform.sessions() as session:
        row = session.get(BatchRow, batch)
        return list(record.results(session, batch, after, limit)), row is None or row.finished_at is not None
