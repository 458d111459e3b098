"""Where a submission stands in its queue, how long it may take, and what it waits for, in words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from grader.records import order, queues, workers
from grader.records.models import PauseRow, SubmissionRow, WorkerRow, utcnow
from grader.records.queues import Pauses
from grader.records.states import FREE
from grader.schemas.report import Language
from grader.schemas.submission import State, WaitReason, WaitsFor
from grader.service.devices import serves


@dataclass(frozen=True)
class Crew:
    """Who serves one queue: how many take what waits there, how many of it only finish what they have, and when the
    last of all was heard of, where none does either.
    """

    serving: int
    draining: list[WorkerRow]
    seen: datetime | None = None


@dataclass(frozen=True)
class Line:
    """One device's queue at one moment."""

    device: str
    places: dict[int, int]
    running: int
    seconds_a_place: float | None
    pauses: Pauses
    judges: Crew
    compilers: Crew

    def place(self, row: SubmissionRow) -> int | None:
        """1 = next; None where it does not wait (any more)."""
        return self.places.get(row.id)

    def expected_wait_s(self, row: SubmissionRow) -> float | None:
        """None where nobody can tell: nothing was judged yet, nobody works, or staff have to go first."""
        place = self.place(row)
        if place is None or self.seconds_a_place is None or self._obstacle(row) is not None:
            return None
        serving = self.judges.serving
        behind = place - max(0, serving - self.running)
        if behind <= 0:
            return 0.0
        # Those ahead take their mean time each; what runs now is, on average, half done.
        return round(self.seconds_a_place * (behind - min(1.0, self.running / serving) / 2), 1)

    def waits_for(self, row: SubmissionRow) -> WaitsFor | None:
        """None while a worker has it, and after its end."""
        place = self.place(row)
        if place is None or row.state not in FREE:
            return None
        if obstacle := self._obstacle(row):
            return obstacle
        since = row.created_at if row.rejudge_of is None else None
        if place > 1:
            ahead = "One submission is" if place == 2 else f"{place - 1} submissions are"
            return WaitsFor(reason=WaitReason.AHEAD, text=f"{ahead} ahead of it.", since=since)
        return WaitsFor(
            reason=WaitReason.NEXT, text="It is next: the first worker that is free takes it.", since=since
        )

    def _obstacle(self, row: SubmissionRow) -> WaitsFor | None:
        """What must change before it moves at all, however many are ahead."""
        uncompiled = row.state is State.QUEUED and row.language is Language.CUDA
        if paused := self.pauses.of(self.device) or (uncompiled and self.pauses.of(queues.COMPILE)):
            return _paused(paused)
        if uncompiled and not self.compilers.serving:
            return _nobody(self.compilers, WaitReason.NO_COMPILER, "compiles")
        if not self.judges.serving:
            return _nobody(self.judges, WaitReason.NO_WORKER, f"serves {self.device}")
        return None


def line_of(session: Session, device: str, silent_s: float) -> Line:
    """The queue of ``device`` as it is now."""
    now = utcnow()
    compilers = compilers_of(session, now, silent_s)
    compiled = compilers.serving > 0 or not serves(device, Language.CUDA)
    return Line(
        device=device,
        places=order.positions(session, device, now, compiled),
        running=order.running(session, device),
        seconds_a_place=order.seconds_a_place(session, device, now, silent_s),
        pauses=queues.pauses(session),
        judges=judges_of(session, device, now, silent_s),
        compilers=compilers,
    )


def judges_of(session: Session, device: str, now: datetime, silent_s: float) -> Crew:
    """Who judges on ``device``."""
    there = [row for row in workers.alive(session, now, silent_s) if row.device == device]
    serving, draining = _split(there)
    seen = None if there else workers.last_seen(session, WorkerRow.device == device)
    return Crew(serving, draining, seen)


def compilers_of(session: Session, now: datetime, silent_s: float) -> Crew:
    """Who compiles, beside a device or alone."""
    if serving := len(workers.compiling(session, now, silent_s)):
        return Crew(serving, [])
    draining = workers.compiling(session, now, silent_s, drained=True)
    return Crew(0, draining, workers.last_seen(session, WorkerRow.compiles.is_(True)))


def _split(there: list[WorkerRow]) -> tuple[int, list[WorkerRow]]:
    draining = [row for row in there if row.drained_at is not None]
    return len(there) - len(draining), draining


def _paused(row: PauseRow) -> WaitsFor:
    what = {queues.ALL: "all queues", queues.COMPILE: "compiling"}.get(row.queue, f"the queue of {row.queue}")
    why = f": {row.reason.rstrip('.')}." if row.reason else "."
    return WaitsFor(reason=WaitReason.PAUSED, text=f"Staff have paused {what}{why}", since=row.since)


def _nobody(crew: Crew, reason: WaitReason, does: str) -> WaitsFor:
    if crew.draining:
        since = max(row.drained_at for row in crew.draining if row.drained_at is not None)
        text = f"Staff are taking out of work every worker that {does}; it is kept until one is back."
        return WaitsFor(reason=WaitReason.DRAINING, text=text, since=since)
    text = f"No worker that {does} is running; it is kept until one is back."
    return WaitsFor(reason=reason, text=text, since=crew.seen)
