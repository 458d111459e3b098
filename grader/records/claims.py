from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from sqlalchemy import ColumnElement, Select, or_, select
from sqlalchemy.orm import Session, aliased

from grader.languages import Language
from grader.records import artefacts, queues, workers
from grader.records.models import SubmissionRow
from grader.records.order import Moments, compilable, runnable, waiting_order
from grader.records.states import ACTIVE, UNFINISHED, move
from grader.schemas.submission import JudgingReason, State


@dataclass(frozen=True)
class Claim:
    """``id`` and ``attempt`` together fence everything that its worker writes."""

    id: int
    attempt: int
    public_id: str
    challenge: str
    version: int
    language: Language
    device: str
    source: str
    artefact: str | None
    rejudge: bool
    request_id: str | None
    run: bool
    competition: int | None = None
    final: bool = False
    # Of a run: see ``SubmissionRow.own_case``.
    own_case: str | None = None

    @property
    def context(self) -> dict[str, str | int]:
        own: dict[str, str | int] = {
            "submission": self.public_id,
            "attempt": self.attempt,
            "challenge": self.challenge,
        }
        return own | ({"request": self.request_id} if self.request_id else {})


@dataclass(frozen=True)
class ClaimRequest:
    device: str
    languages: Sequence[Language]
    worker: str
    now: datetime
    lease_s: float
    toolkit: str | None = None
    # Also take uncompiled submissions, if they come first.
    uncompiled: bool = False
    # UUID of its GPU, or its host's name.
    machine: str = ""


@dataclass(frozen=True)
class Claimed:
    held: Claim | None
    returned: tuple[int, ...] = ()


def claim(session: Session, request: ClaimRequest) -> Claimed:
    """Take the next submission that the device can run. Call it within ``writing``.

    The worker compiles it unless its compiler made the artefact. A worker without a compiler accepts any
    artefact, and sends submissions without one back to the compilers. While ``compile`` is paused, nothing
    uncompiled is taken.
    """
    paused = queues.pauses(session)
    if paused.of(request.device) or workers.draining(session, request.worker):
        return Claimed(None)
    toolkit, uncompiled, now = request.toolkit, request.uncompiled, request.now
    if paused.of(queues.COMPILE):
        uncompiled, toolkit = False, None

    def take(row: SubmissionRow, to: State, started: datetime | None) -> Claim | None:
        return _take(session, row, to, request.worker, now, request.lease_s, started)

    returned: list[int] = []
    wanted = _Wanted(
        (request.device,),
        run=True,
        compile=uncompiled,
        languages=(*request.languages,),
        machine=request.machine,
    )
    while row := _next(session, wanted, now):
        if row.state is not State.WAITING:
            return Claimed(take(row, State.COMPILING, now), (*returned,))
        if row.artefact and artefacts.use(session, row.artefact, now, toolkit):
            return Claimed(take(row, State.TESTING, row.started_at), (*returned,))
        if toolkit is not None:
            return Claimed(take(row, State.COMPILING, row.started_at), (*returned,))
        if not move(session, row.id, row.attempt, State.QUEUED):
            break
        returned.append(row.id)
    return Claimed(None, (*returned,))


def _may_run_on(machine: str, device: str) -> ColumnElement[bool]:
    """A final follows one order, whichever row is compiled first."""
    table, bound = SubmissionRow, aliased(SubmissionRow)
    first = (
        select(bound.id)
        .where(bound.device == device, bound.state.in_(UNFINISHED), bound.machine == machine)
        .order_by(bound.created_at, bound.id)
        .limit(1)
        .scalar_subquery()
    )
    return or_(table.machine.is_(None), table.id == first)


def claim_to_compile(
    session: Session, devices: Iterable[str], worker: str, now: datetime, lease_s: float
) -> Claim | None:
    """Call it within ``writing``."""
    if queues.pauses(session).of(queues.COMPILE) or workers.draining(session, worker):
        return None
    row = _next(session, _Wanted((*devices,), run=False, compile=True), now)
    return _take(session, row, State.COMPILING, worker, now, lease_s, now) if row is not None else None


@dataclass(frozen=True)
class _Wanted:
    devices: tuple[str, ...]
    run: bool
    compile: bool
    languages: tuple[Language, ...] | None = None
    # Skips submissions bound to another machine.
    machine: str | None = None


def _next(session: Session, wanted: _Wanted, now: datetime) -> SubmissionRow | None:
    return session.scalars(_first(wanted), Moments.of(now).values).one_or_none()


# Only changes when a new board registers.
@lru_cache(maxsize=32)
def _first(wanted: _Wanted) -> Select[SubmissionRow]:
    table, order = SubmissionRow, waiting_order(wanted.devices, Moments.parameters())
    kinds = [*([runnable()] if wanted.run else []), *([compilable()] if wanted.compile else [])]
    conditions = [or_(*kinds)]
    if wanted.languages is not None:
        conditions.append(table.language.in_(wanted.languages))
    if wanted.machine is not None:
        conditions += [_may_run_on(wanted.machine, device) for device in wanted.devices]
    return (
        select(table)
        .join(order, order.c.id == table.id)
        .where(*conditions)
        .order_by(order.c.priority.desc(), order.c.busy, order.c.place)
        .limit(1)
        # PostgreSQL skips rows that another worker is taking; SQLite has one writer.
        .with_for_update(of=table, skip_locked=True)
    )


def _take(
    session: Session,
    row: SubmissionRow,
    to: State,
    worker: str,
    now: datetime,
    lease_s: float,
    started: datetime | None,
) -> Claim | None:
    taken = move(
        session,
        row.id,
        row.attempt,
        to,
        SubmissionRow.state == row.state,
        attempt=row.attempt + 1,
        worker=worker,
        lease_until=now + timedelta(seconds=lease_s),
        claimed_at=now,
        started_at=started,
        progress={"since": now.isoformat()},
    )
    return _claim_of(row, row.attempt + 1, to) if taken else None


def held_by(session: Session, worker: str, submission: int, attempt: int) -> Claim | None:
    """None if ``worker`` does not hold it, or no longer."""
    table = SubmissionRow
    row = session.scalar(
        select(table).where(
            table.id == submission,
            table.attempt == attempt,
            table.worker == worker,
            table.state.in_(ACTIVE),
        )
    )
    return _claim_of(row, attempt, row.state) if row is not None else None


def all_held_by(session: Session, names: Iterable[str]) -> list[Claim]:
    table = SubmissionRow
    rows = session.scalars(select(table).where(table.worker.in_([*names]), table.state.in_(ACTIVE)))
    return [_claim_of(row, row.attempt, row.state) for row in rows]


def _claim_of(row: SubmissionRow, attempt: int, state: State) -> Claim:
    return Claim(
        row.id,
        attempt,
        row.public_id,
        row.challenge,
        row.version,
        row.language,
        row.device,
        row.source,
        row.artefact if state is State.TESTING else None,
        row.rejudge_of is not None,
        row.request_id,
        row.kind is JudgingReason.RUN,
        row.competition_id,
        row.kind is JudgingReason.FINAL,
        row.own_case,
    )
