"""Where a submission stands in its queue, how long it may take, and what it waits for, in words."""

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
from grader.records import forecast, order, queues, workers
from grader.records.durations import Durations, durations
from grader.records.engine import clock
from grader.records.forecast import Arrival, Closing, Running, closing
from grader.records.models import PauseRow, SubmissionRow, WorkerRow, utcnow
from grader.records.order import Waiting
from grader.records.queues import Pauses
from grader.records.states import FREE
from grader.schemas.submission import JudgingReason, State, WaitReason, WaitsFor

# In a queue of no more than this nobody is overtaken for long.
_FEW = 4
# Who waits longer is overtaken by more, who make it wait longer: so often at most, and until it changes no more.
_ROUNDS = 12
_CLOSE_SECONDS = 0.05
# Fewer seconds say nothing of how many come.
_SEEN = timedelta(seconds=10)


@dataclass(frozen=True)
class QueueWorkers:
    """Who serves one queue: the workers that take what waits there, those whose host starts no sandboxes now, those
    that staff drain, and when the last of all reported, where there is none.
    """

    serving: Collection[str]
    faulty: Collection[str] = ()
    draining: Collection[WorkerRow] = ()
    seen: datetime | None = None


@dataclass(frozen=True)
class QueueSnapshot:
    """One device's queue at one moment."""

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
        """Of what waits, by the number of its row; 1 = next."""
        return {it.id: place for place, it in enumerate(self.waiting, 1)}

    def place(self, row: SubmissionRow) -> int | None:
        """1 = next; None where it does not wait (any more)."""
        return self.places.get(row.id)

    def expected_wait_s(self, row: SubmissionRow) -> float | None:
        """None where it cannot be known: nothing was judged yet, no worker is alive, or staff have to act first."""
        if row.id not in self.places or self._obstacle(row) is not None:
            return None
        return self.waits.get(row.id)

    @cached_property
    def waits(self) -> dict[int, float]:
        """Seconds until each begins: what is ahead now, shared among the workers, and who is expected to overtake it
        meanwhile. Empty where that cannot be known."""
        known = self.durations
        if known is None or not self.judges.serving:
            return {}
        # When each worker is free, the first one first; and when each author's running ones have ended.
        free = sorted(self._until_free(worker, known) for worker in self.judges.serving)
        ends: dict[int, float] = defaultdict(float)
        for held in self.running.values():
            if held.of_author:
                ends[held.user] = max(ends[held.user], self._left(held, known))
        waits, now = {}, self.now.timestamp()
        for _, those in groupby(self.waiting, lambda it: it.priority):
            wait, line = 0.0, _Line(those)
            while it := line.next(wait := max(wait, free[0]), ends):
                for _ in range(_ROUNDS):
                    overtaking = sum(other.before(it, now, wait) for other in self.arrivals)
                    known_wait, wait = wait, _done(free, overtaking, known.usual + known.pause)
                    if abs(wait - known_wait) < _CLOSE_SECONDS:
                        break
                waits[it.id] = round(wait, 1)
                seconds = known.of(it.work, it.user)
                ends[it.user] = max(ends[it.user], wait + seconds)
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
        """Whether every worker is held up by a submission that takes longer than usual."""
        known = self.durations
        busy = [self.running.get(worker) for worker in self.judges.serving]
        if known is None or not busy:
            return False
        return all(it is not None and it.elapsed > 2 * known.of(it.work) for it in busy)

    def waits_for(self, row: SubmissionRow) -> WaitsFor | None:
        """None while a worker has it, and after its end."""
        place = self.place(row)
        if place is None or row.state not in FREE:
            return None
        if obstacle := self._obstacle(row):
            return obstacle
        since = row.created_at if row.rejudge_of is None else None
        slow = " What is judged now takes longer than usual." if self.overdue else ""
        if place > 1:
            ahead = "One submission is" if place == 2 else f"{place - 1} submissions are"
            return WaitsFor(reason=WaitReason.AHEAD, text=f"{ahead} ahead of it.{slow}", since=since)
        text = f"It is next: the first worker that is free takes it.{slow}"
        if len(self.waiting) > 1 and row.kind is not JudgingReason.FINAL and self._busy(row.user_id):
            text = (
                "It is next once its author's submission that is judged now has ended; until then a free worker "
                f"takes others' first.{slow}"
            )
        return WaitsFor(reason=WaitReason.NEXT, text=text, since=since)

    def _busy(self, user: int) -> bool:
        return any(it.user == user and it.of_author for it in self.running.values())

    def _obstacle(self, row: SubmissionRow) -> WaitsFor | None:
        """What must change before it moves at all, however many are ahead."""
        uncompiled = row.state is State.QUEUED and row.language.compiled
        if paused := self.pauses.of(self.device) or (uncompiled and self.pauses.of(queues.COMPILE)):
            return _paused(paused)
        if uncompiled and not self.compilers.serving:
            return _nobody(self.compilers, WaitReason.NO_COMPILER, "compiles")
        if not self.judges.serving:
            return _nobody(self.judges, WaitReason.NO_WORKER, f"serves {self.device}")
        return None


class _Line:
    """Those of one priority that wait, in the order in which workers take them."""

    def __init__(self, those: Iterable[Waiting]) -> None:
        self._coming = iter(those)
        self._passed: list[Waiting] = []

    def next(self, at: float, ends: Mapping[int, float]) -> Waiting | None:
        """Who a worker takes that is free in ``at`` seconds: the first of whose author's none is judged then, else the
        first. ``ends``: when an author's last one has ended."""
        for index, it in enumerate(self._passed):
            if ends.get(it.user, 0.0) <= at:
                return self._passed.pop(index)
        for it in self._coming:
            if ends.get(it.user, 0.0) <= at or it.priority == order.PRIORITIES[JudgingReason.FINAL]:
                return it
            self._passed.append(it)
        return self._passed.pop(0) if self._passed else None


def _done(free: Sequence[float], seconds: float, each: float) -> float:
    """When one can begin that lets others of ``seconds`` together go first, about ``each`` seconds each: the workers
    take these as they are ``free``."""
    # One that is free within the time that one takes has as large a part in them as the first.
    begins = [max(free[0], it - each) for it in free]
    begins.append(math.inf)
    for count, (begin, next_begin) in enumerate(pairwise(begins), 1):
        taken = count * (next_begin - begin)
        if seconds <= taken:
            return begin + seconds / count
        seconds -= taken
    raise AssertionError("The last one has any time.")


@dataclass(frozen=True)
class Expected:
    """Who else will come, as far as those tell who came lately: so much that each second of it is ``load`` seconds of
    a worker, until ``closes`` (the deadline of what they are for), each put back by ``back`` seconds."""

    priority: int
    back: float
    load: float
    closes: datetime | None

    def before(self, it: Waiting, now: float, wait: float) -> float:
        """Seconds of a worker that those take who overtake ``it`` while it waits for ``wait`` seconds."""
        if self.priority < it.priority:
            return 0.0
        seconds = wait if self.closes is None else min(wait, self.closes.timestamp() - now)
        if self.priority == it.priority:
            seconds = min(seconds, it.due - self.back - now)
        return self.load * max(seconds, 0.0)


def expected(
    arrivals: Iterable[Arrival], closing: Closing, known: Durations, now: datetime
) -> list[Expected]:
    """As ``arrivals`` came until ``now``, others come. Who came before a deadline tells nothing of who comes after."""
    loads: dict[tuple[int, float, datetime | None], float] = defaultdict(float)
    for it in arrivals:
        closes, seen = closing.of(it.work.challenge, it.competition), forecast.ARRIVALS
        if closes is not None and closes <= now:
            if it.at <= closes:
                continue
            seen, closes = max(now - closes, _SEEN), None
        loads[it.priority, it.back, closes] += (known.of(it.work) + known.pause) / seen.total_seconds()
    return [Expected(priority, back, load, closes) for (priority, back, closes), load in loads.items()]


def line_of(session: Session, device: str, silent_s: float) -> QueueSnapshot:
    """The queue of ``device`` as it is now."""
    # The workers' clock: what runs has run since a time of theirs.
    now = clock(session)
    compilers = compilers_of(session, now, silent_s)
    compiled = bool(compilers.serving) or not any(it.compiled for it in languages_of(device))
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
    """Who judges on ``device``."""
    there = [row for row in workers.alive(session, now, silent_s) if row.device == device]
    seen = None if there else workers.last_seen(session, WorkerRow.device == device)
    return _queue_workers(there, seen)


def compilers_of(session: Session, now: datetime, silent_s: float) -> QueueWorkers:
    """Who compiles, beside a device or alone."""
    there = workers.compiling(session, now, silent_s)
    if not there:
        there = workers.compiling(session, now, silent_s, drained=True)
    seen = None if there else workers.last_seen(session, WorkerRow.compiles.is_(True))
    return _queue_workers(there, seen)


def _queue_workers(there: list[WorkerRow], seen: datetime | None) -> QueueWorkers:
    taking = [row for row in there if row.drained_at is None]
    return QueueWorkers(
        serving=[row.name for row in taking if not row.sandbox_fault],
        faulty=[row.name for row in taking if row.sandbox_fault],
        draining=[row for row in there if row.drained_at is not None],
        seen=seen,
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
        text = f"Staff are taking out of work every worker that {does}; it is kept until one is back."
        return WaitsFor(reason=WaitReason.DRAINING, text=text, since=since)
    text = f"No worker that {does} is running; it is kept until one is back."
    return WaitsFor(reason=reason, text=text, since=those.seen)


# A queue this short is read for each request: it costs little, and its numbers are watched one by one.
_SHORT = 50
# Of a longer one, a place is at most this old, and a newcomer has none at first.
_KEPT_SECONDS = 1.0
_MISSING_SECONDS = 0.25


@dataclass(frozen=True)
class _Kept:
    line: QueueSnapshot
    at: float


class QueueSnapshots:
    """Of one process; devices are few."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: dict[str, _Kept] = {}
        # One at a time: who comes while a line is worked out gets that one.
        self._lock = threading.Lock()

    def of(self, session: Session, row: SubmissionRow, silent_s: float) -> QueueSnapshot:
        """The line that ``row`` waits in. ``silent_s``: see ``line_of``."""
        # Who holds the lock must not wait for a connection: those who have them may all be waiting for the lock.
        session.connection()
        with self._lock:
            kept = self._kept.get(row.device)
            if kept is not None and self._clock() - kept.at <= _age(kept.line, row):
                return kept.line
            line = line_of(session, row.device, silent_s)
            self._kept[row.device] = _Kept(line, self._clock())
            return line


def _age(line: QueueSnapshot, row: SubmissionRow) -> float:
    """How old this snapshot may be for that row; below zero where it may not be used at all."""
    if len(line.places) <= _SHORT:
        return -1.0
    return _KEPT_SECONDS if row.id in line.places else _MISSING_SECONDS
