"""A submission's place in its queue, expected wait, and reason."""

from __future__ import annotations

import math
import threading
import time
from bisect import insort
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from itertools import groupby, pairwise

from sqlalchemy.orm import Session

from grader import limits
from grader.device_kinds import endless_seconds, languages_of
from grader.records import forecast, order, pilots, queues, workers
from grader.records.durations import Durations, durations
from grader.records.engine import clock
from grader.records.forecast import Arrival, Closing, Running, closing
from grader.records.models import PauseRow, SubmissionRow, WorkerRow, utcnow
from grader.records.order import Waiting
from grader.records.queues import Pauses
from grader.records.states import FREE
from grader.schemas.submission import JudgingReason, State, WaitReason, WaitsFor

# In shorter queues, overtaking takes little time.
_FEW = 4
# A longer wait allows more overtaking: at most this many rounds.
_ROUNDS = 12
_CLOSE_SECONDS = 0.05
# Fewer seconds do not show a rate.
_SEEN = timedelta(seconds=10)


@dataclass(frozen=True)
class QueueWorkers:
    """``faulty``: cannot start sandboxes. ``seen``: the last report without workers. ``launched``: by a fleet."""

    serving: Collection[str]
    faulty: Collection[str] = ()
    draining: Collection[WorkerRow] = ()
    seen: datetime | None = None
    launched: bool = False


@dataclass(frozen=True)
class QueueSnapshot:
    device: str
    waiting: Sequence[Waiting]
    durations: Durations | None
    running: Mapping[str, Running]
    pauses: Pauses
    judges: QueueWorkers
    compilers: QueueWorkers
    arrivals: Sequence[Expected] = ()
    now: datetime = field(default_factory=utcnow)

    @cached_property
    def places(self) -> dict[int, int]:
        """By row id; 1 = next."""
        return {queued.id: place for place, queued in enumerate(self.waiting, 1)}

    def place(self, row: SubmissionRow) -> int | None:
        """1 = next; None if it is not waiting."""
        return self.places.get(row.id)

    def expected_wait_s(self, row: SubmissionRow) -> float | None:
        """None if nothing was judged, no worker is alive, or staff must act."""
        if row.id not in self.places or self._obstacle(row) is not None:
            return None
        return self.waits.get(row.id)

    @cached_property
    def waits(self) -> dict[int, float]:
        """Seconds until each begins: the work ahead, shared among workers, plus overtaking. Empty if unknown."""
        known = self.durations
        if known is None or not self.judges.serving:
            return {}
        # Seconds until each worker is free, sorted, and until each author's running submissions end.
        free = sorted(self._until_free(worker, known) for worker in self.judges.serving)
        ends: dict[int, float] = defaultdict(float)
        for held in self.running.values():
            if held.of_author:
                ends[held.user] = max(ends[held.user], self._left(held, known))
        waits, now = {}, self.now.timestamp()
        for _, those in groupby(self.waiting, lambda queued: queued.priority):
            wait, line = 0.0, _Line(those)
            while following := line.next(wait := max(wait, free[0]), ends):
                for _ in range(_ROUNDS):
                    overtaking = sum(other.before(following, now, wait) for other in self.arrivals)
                    known_wait, wait = wait, _done(free, overtaking, known.usual + known.pause)
                    if abs(wait - known_wait) < _CLOSE_SECONDS:
                        break
                waits[following.id] = round(wait, 1)
                seconds = known.of(following.work, following.user)
                ends[following.user] = max(ends[following.user], wait + seconds)
                insort(free, free.pop(0) + seconds + known.pause)
        return waits

    def _until_free(self, worker: str, known: Durations) -> float:
        """Seconds until ``worker`` takes another."""
        held = self.running.get(worker)
        if held is None:
            return 0.0
        return self._left(held, known) + known.pause

    def _left(self, held: Running, known: Durations) -> float:
        """Seconds until it ends."""
        endless = endless_seconds(self.device)
        return known.left(held.elapsed, held.work, held.user, endless, limits.BOX_WALL_SECONDS)

    @property
    def overdue(self) -> bool:
        """Every worker's submission takes longer than usual."""
        known = self.durations
        busy = [self.running.get(worker) for worker in self.judges.serving]
        if known is None or not busy:
            return False
        return all(running is not None and running.elapsed > 2 * known.of(running.work) for running in busy)

    def waits_for(self, row: SubmissionRow) -> WaitsFor | None:
        """None while a worker has it, and after the end."""
        place = self.place(row)
        if place is None or row.state not in FREE:
            return None
        if obstacle := self._obstacle(row):
            return obstacle
        since = row.created_at if row.rejudge_of is None else None
        slow = " The current one takes longer than usual." if self.overdue else ""
        if place > 1:
            ahead = "One submission is" if place == 2 else f"{place - 1} submissions are"
            return WaitsFor(reason=WaitReason.AHEAD, text=f"{ahead} ahead of it.{slow}", since=since)
        text = f"It is next: the first free worker takes it.{slow}"
        if len(self.waiting) > 1 and row.kind is not JudgingReason.FINAL and self._busy(row.user_id):
            text = (
                "It is next once its author's running submission ends; until then a free worker "
                f"takes other people's first.{slow}"
            )
        return WaitsFor(reason=WaitReason.NEXT, text=text, since=since)

    def _busy(self, user: int) -> bool:
        return any(running.user == user and running.of_author for running in self.running.values())

    def _obstacle(self, row: SubmissionRow) -> WaitsFor | None:
        """A reason that holds whatever its place."""
        uncompiled = row.state is State.QUEUED and row.language.compiled
        if paused := self.pauses.of(self.device) or (uncompiled and self.pauses.of(queues.COMPILE)):
            return _paused(paused)
        if uncompiled and not self.compilers.serving:
            return _nobody(self.compilers, WaitReason.NO_COMPILER, "compiles")
        if not self.judges.serving:
            return _nobody(self.judges, WaitReason.NO_WORKER, f"serves {self.device}")
        return None


class _Line:
    """Submissions of one priority, in the order in which workers take them."""

    def __init__(self, those: Iterable[Waiting]) -> None:
        self._coming = iter(those)
        self._passed: list[Waiting] = []

    def next(self, at: float, ends: Mapping[int, float]) -> Waiting | None:
        """For a worker free in ``at`` seconds: the first whose author has none running then, else the first.
        ``ends``: of authors' last ones."""
        for index, passed in enumerate(self._passed):
            if ends.get(passed.user, 0.0) <= at:
                return self._passed.pop(index)
        for queued in self._coming:
            if ends.get(queued.user, 0.0) <= at or queued.priority == order.PRIORITIES[JudgingReason.FINAL]:
                return queued
            self._passed.append(queued)
        return self._passed.pop(0) if self._passed else None


def _done(free: Sequence[float], seconds: float, each: float) -> float:
    """Seconds until a submission begins that lets ``seconds`` of others go first, ``each`` per submission."""
    # Free before one of them would end: an equal share.
    begins = [max(free[0], begin - each) for begin in free]
    begins.append(math.inf)
    for count, (begin, next_begin) in enumerate(pairwise(begins), 1):
        taken = count * (next_begin - begin)
        if seconds <= taken:
            return begin + seconds / count
        seconds -= taken
    raise AssertionError("The last one has any time.")


@dataclass(frozen=True)
class Expected:
    """``load`` worker seconds arrive per second until ``closes``, each put back by ``back`` seconds."""

    priority: int
    back: float
    load: float
    closes: datetime | None

    def before(self, waiting: Waiting, now: float, wait: float) -> float:
        """Worker seconds that overtake ``waiting`` in ``wait`` seconds."""
        if self.priority < waiting.priority:
            return 0.0
        seconds = wait if self.closes is None else min(wait, self.closes.timestamp() - now)
        if self.priority == waiting.priority:
            seconds = min(seconds, waiting.due - self.back - now)
        return self.load * max(seconds, 0.0)


def expected(
    arrivals: Iterable[Arrival], closing: Closing, known: Durations, now: datetime
) -> list[Expected]:
    """At the rate of ``arrivals``. Those before a passed deadline say nothing about later ones."""
    loads: dict[tuple[int, float, datetime | None], float] = defaultdict(float)
    for arrival in arrivals:
        closes, seen = closing.of(arrival.work.challenge, arrival.competition), forecast.ARRIVALS
        if closes is not None and closes <= now:
            if arrival.at <= closes:
                continue
            seen, closes = max(now - closes, _SEEN), None
        loads[arrival.priority, arrival.back, closes] += (
            known.of(arrival.work) + known.pause
        ) / seen.total_seconds()
    return [Expected(priority, back, load, closes) for (priority, back, closes), load in loads.items()]


def line_of(session: Session, device: str, silent_s: float) -> QueueSnapshot:
    # The workers' clock: running times count from it.
    now = clock(session)
    compilers = compilers_of(session, now, silent_s)
    compiled = bool(compilers.serving) or not any(language.compiled for language in languages_of(device))
    waiting = order.waiting(session, device, now, compiled)
    known = durations(session, device, now)
    coming: Sequence[Expected] = ()
    if known is not None and len(waiting) > _FEW:
        closes = closing(session, now, forecast.ARRIVALS)
        coming = expected(forecast.arrivals(session, device, now), closes, known, now)
    return QueueSnapshot(
        device=device,
        waiting=waiting,
        durations=known,
        running=forecast.running(session, device, now),
        pauses=queues.pauses(session),
        judges=judges_of(session, device, now, silent_s),
        compilers=compilers,
        arrivals=coming,
        now=now,
    )


def judges_of(session: Session, device: str, now: datetime, silent_s: float) -> QueueWorkers:
    there = [row for row in workers.alive(session, now, silent_s) if row.device == device]
    seen = None if there else workers.last_seen(session, WorkerRow.device == device)
    return _queue_workers(there, seen, not there and device in pilots.served(session, now))


def compilers_of(session: Session, now: datetime, silent_s: float) -> QueueWorkers:
    there = workers.compiling(session, now, silent_s)
    if not there:
        there = workers.compiling(session, now, silent_s, drained=True)
    seen = None if there else workers.last_seen(session, WorkerRow.compiles.is_(True))
    return _queue_workers(there, seen, not there and queues.COMPILE in pilots.served(session, now))


def _queue_workers(there: list[WorkerRow], seen: datetime | None, launched: bool) -> QueueWorkers:
    taking = [row for row in there if row.drained_at is None]
    return QueueWorkers(
        serving=[row.name for row in taking if not row.sandbox_fault],
        faulty=[row.name for row in taking if row.sandbox_fault],
        draining=[row for row in there if row.drained_at is not None],
        seen=seen,
        launched=launched,
    )


def _paused(row: PauseRow) -> WaitsFor:
    what = {queues.ALL: "all queues", queues.COMPILE: "compiling"}.get(row.queue, f"the queue of {row.queue}")
    why = f": {row.reason.rstrip('.')}." if row.reason else "."
    return WaitsFor(reason=WaitReason.PAUSED, text=f"Staff have paused {what}{why}", since=row.since)


def _nobody(those: QueueWorkers, reason: WaitReason, does: str) -> WaitsFor:
    if those.faulty:
        text = f"No worker that {does} can start a sandbox right now. They retry every few seconds; it stays queued."
        return WaitsFor(reason=WaitReason.NO_SANDBOX, text=text)
    if those.draining:
        since = max(row.drained_at for row in those.draining if row.drained_at is not None)
        text = f"Staff are draining every worker that {does}; it stays queued until one is back."
        return WaitsFor(reason=WaitReason.DRAINING, text=text, since=since)
    if those.launched:
        text = f"A worker that {does} is being started; it stays queued until then."
        return WaitsFor(reason=reason, text=text)
    text = f"No worker that {does} is running; it stays queued until one is back."
    return WaitsFor(reason=reason, text=text, since=those.seen)


# Cheap enough to read for each request, and people watch it.
_SHORT = 50
# Greatest age in longer queues; a new submission has no place at first.
_KEPT_SECONDS = 1.0
_MISSING_SECONDS = 0.25


@dataclass(frozen=True)
class _Kept:
    line: QueueSnapshot
    at: float


class QueueSnapshots:
    """One per process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: dict[str, _Kept] = {}
        # One at a time: other requests wait and share the result.
        self._lock = threading.Lock()

    def of(self, session: Session, row: SubmissionRow, silent_s: float) -> QueueSnapshot:
        """``silent_s``: see ``line_of``."""
        # Connect before locking: holders of all connections may wait for the lock.
        session.connection()
        with self._lock:
            kept = self._kept.get(row.device)
            if kept is not None and self._clock() - kept.at <= _age(kept.line, row):
                return kept.line
            line = line_of(session, row.device, silent_s)
            self._kept[row.device] = _Kept(line, self._clock())
            return line


def _age(line: QueueSnapshot, row: SubmissionRow) -> float:
    """The snapshot's greatest allowed age; negative if it lacks the row."""
    if len(line.places) <= _SHORT:
        return -1.0
    return _KEPT_SECONDS if row.id in line.places else _MISSING_SECONDS
