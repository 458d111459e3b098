"""Keeps the right number of pilots of each pool.

Each pilot is recorded before its provider is asked, and the provider's listing decides whether it lives. So a
controller may end at any point, and another may follow: what it launched is found by its name. Times are the
database's.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from grader.logs import get_logger
from grader.queue.fleet.plan import Fleet, Pool
from grader.queue.fleet.providers import Launch, Listed, Provider, ProviderError, prefix_of
from grader.queue.pilot import lead_seconds
from grader.records import durations, order, pilots, queues, workers
from grader.records.engine import Sessions, clock, writing
from grader.records.models import PilotRow, PilotState, PoolRow
from grader.records.queues import COMPILE

log = get_logger(__name__)

# Fewer are wanted for this long before waiting pilots are called off.
_SURPLUS_SECONDS = 60.0
# A pilot that no listing has shown by then never came.
_APPEAR_SECONDS = 60.0
_LONGEST_PAUSE_SECONDS = 600.0
# Of a controller that ended without a word.
_LEADS_INTERVALS, _LEADS_SECONDS = 4, 90.0
_KEPT = timedelta(days=90)


@dataclass(frozen=True)
class Decision:
    pool: str
    waiting: int = 0
    wanted: int = 0
    pending: int = 0
    running: int = 0
    launches: int = 0
    stops: int = 0
    spent: float = 0.0
    # Why staff want none.
    paused: str = ""
    # What keeps it from launching more.
    note: str = ""


@dataclass
class _Memory:
    """In this process alone: a new controller waits a little longer."""

    surplus_since: float | None = None
    failures: int = 0
    not_before: float = 0.0
    note: str = ""


@dataclass
class Controller:
    fleet: Fleet
    providers: Mapping[str, Provider]
    sessions: Sessions
    # Of a worker, after which it counts as gone.
    silent_s: float
    name: str
    dry_run: bool = False
    now: Callable[[], float] = time.monotonic
    _memory: dict[str, _Memory] = field(default_factory=dict)

    def tick(self) -> list[Decision]:
        return [self._decide(name, pool) for name, pool in self.fleet.pools.items()]

    def run(self, stop: threading.Event) -> None:
        while not stop.wait(self.fleet.interval):
            try:
                self.tick()
            except OperationalError as error:
                log.warning("the database is away", reason=str(error.orig))

    def close(self) -> None:
        """Another controller need not wait. Pilots go on."""
        if not self.dry_run:
            with writing(self.sessions) as session:
                pilots.release(session, self.name, clock(session))

    def _decide(self, name: str, pool: Pool) -> Decision:
        if not self.dry_run and not self._leads(name, pool):
            return Decision(name, note="another controller decides about this pool")
        try:
            listed = self.providers[name].list(name)
        except ProviderError as error:
            # Whether its pilots live is unknown: none is given up, and none launched.
            return self._noted(Decision(name, note=error.told))
        memory = self._memory.setdefault(name, _Memory())
        # A session that nobody commits leaves nothing behind.
        with self.sessions() if self.dry_run else writing(self.sessions) as session:
            now = clock(session)
            rows = _reconciled(session, name, pool, listed, now)
            decision = self._weighed(session, name, pool, rows, now)
            surplus = self._surplus(memory, decision, rows)
            launches = decision.launches if memory.not_before <= self.now() else 0
            added = [_row(name, pool, now) for _ in range(launches)]
            if self.dry_run:
                return replace(decision, stops=len(surplus))
            session.add_all(added)
            wanted = [row.name for row in added]
            stops = [(row.name, row.handle) for row in surplus]
            pilots.forget(session, now - _KEPT)
        note = self._launch(name, pool, wanted, memory) or self._stop(name, stops) or decision.note
        return self._noted(replace(decision, launches=len(wanted), stops=len(stops), note=note))

    def _leads(self, name: str, pool: Pool) -> bool:
        """Should two lead after all, as one stalled in a launch: each counts what the other recorded."""
        seconds = max(_LEADS_INTERVALS * self.fleet.interval, _LEADS_SECONDS)
        with writing(self.sessions) as session:
            now = clock(session)
            until = now + timedelta(seconds=seconds)
            return pilots.lead(session, name, pool.device, self.name, now, until)

    def _weighed(
        self, session: Session, name: str, pool: Pool, rows: Sequence[PilotRow], now: datetime
    ) -> Decision:
        compiles = pool.device == COMPILE
        waiting = order.uncompiled(session) if compiles else order.pending_on(session, pool.device)
        seconds = None if compiles else durations.mean_seconds(session, pool.device)
        pause = queues.pauses(session).of(pool.device)
        wanted = 0 if pause else pool.wanted(waiting, seconds)
        taking = [row for row in rows if _takes(row, pool, now)]
        serving = (
            workers.compiling(session, now, self.silent_s)
            if compiles
            else workers.serving(session, pool.device, now, self.silent_s)
        )
        # A pilot with several GPUs has a worker for each.
        others = sum(not worker.name.startswith(prefix_of(name)) for worker in serving)
        missing = max(0, wanted - others - len(taking))
        # Those that end soon still hold their place.
        launches = min(missing, max(0, pool.max - len(rows)))
        spent = pilots.spent(session, name, _midnight(now), now)
        note = ""
        if pool.cost_per_day is not None:
            committed = spent + sum(_may_cost(row, pool, now) for row in rows)
            affordable = max(0, int((pool.cost_per_day - committed) / pool.longest_cost + 1e-9))
            if affordable < launches:
                note = f"today's {pool.cost_per_day:.2f} are spent or promised: {committed:.2f}"
            launches = min(launches, affordable)
        running = sum(row.state is PilotState.RUNNING for row in rows)
        return Decision(
            name,
            waiting,
            wanted,
            pending=len(rows) - running,
            running=running,
            launches=launches,
            spent=spent,
            paused=f"the queue is paused: {pause.reason}" if pause else "",
            note=note,
        )

    def _surplus(self, memory: _Memory, decision: Decision, rows: Sequence[PilotRow]) -> list[PilotRow]:
        """Only pilots that still wait for a GPU: the others end by themselves when they are idle."""
        more = decision.pending + decision.running - decision.wanted
        if more <= 0:
            memory.surplus_since = None
            return []
        if memory.surplus_since is None:
            memory.surplus_since = self.now()
        if self.now() - memory.surplus_since < _SURPLUS_SECONDS:
            return []
        waiting = [row for row in rows if row.state is PilotState.PENDING and row.handle]
        return waiting[::-1][:more]

    def _launch(self, name: str, pool: Pool, wanted: Sequence[str], memory: _Memory) -> str:
        """Why the first one failed; then the others are not tried."""
        for number, pilot in enumerate(wanted):
            try:
                handle = self.providers[name].launch(Launch(pilot, name, pool))
            except ProviderError as error:
                memory.failures += 1
                pause = min(self.fleet.interval * 2**memory.failures, _LONGEST_PAUSE_SECONDS)
                memory.not_before = self.now() + pause
                log.warning("a pilot could not be launched", pool=name, pilot=pilot, reason=error.told)
                with writing(self.sessions) as session:
                    for left in wanted[number:]:
                        pilots.failed(session, left, error.told, clock(session))
                return error.told
            memory.failures = 0
            log.info("launched a pilot", pool=name, pilot=pilot, handle=handle)
            with writing(self.sessions) as session:
                pilots.launched(session, pilot, handle)
        return ""

    def _stop(self, name: str, stops: Sequence[tuple[str, str]]) -> str:
        for pilot, handle in stops:
            try:
                self.providers[name].stop(handle)
            except ProviderError as error:
                return error.told
            log.info("called off a pilot that still waited", pool=name, pilot=pilot, handle=handle)
        return ""

    def _noted(self, decision: Decision) -> Decision:
        if self.dry_run:
            return decision
        memory = self._memory.setdefault(decision.pool, _Memory())
        if decision.note != memory.note:
            log.warning("what limits a pool", pool=decision.pool, reason=decision.note or "nothing")
            memory.note = decision.note
        with writing(self.sessions) as session:
            row = session.get(PoolRow, decision.pool)
            if row is not None and row.controller == self.name:
                row.decided_at = clock(session)
                row.waiting, row.wanted = decision.waiting, decision.wanted
                row.spent, row.note = decision.spent, decision.note
        return decision


def _reconciled(
    session: Session, name: str, pool: Pool, listed: Sequence[Listed], now: datetime
) -> list[PilotRow]:
    """Live ones. What a listing names lives, though it was given up or is unknown (a restored database)."""
    known = pilots.named(session, [each.name for each in listed])
    for each in listed:
        row = known.get(each.name)
        if row is None:
            row = PilotRow(name=each.name, pool=name, launched_at=now, cost_per_hour=pool.cost_per_hour)
            session.add(row)
        pilots.seen(row, each.handle, each.running, now)
    session.flush()
    names = {each.name for each in listed}
    for row in pilots.live(session, name):
        if row.name in names:
            continue
        if row.state is not PilotState.LAUNCHING:
            pilots.ended(row, now)
        elif now - row.launched_at > timedelta(seconds=_APPEAR_SECONDS):
            pilots.ended(row, now, "its provider never listed it")
    session.flush()
    return pilots.live(session, name)


def _row(name: str, pool: Pool, now: datetime) -> PilotRow:
    return PilotRow(
        name=f"{prefix_of(name)}{secrets.token_hex(4)}",
        pool=name,
        state=PilotState.LAUNCHING,
        launched_at=now,
        cost_per_hour=pool.cost_per_hour,
    )


def _takes(row: PilotRow, pool: Pool, now: datetime) -> bool:
    """Not in the last part of its life."""
    if row.began_at is None:
        return True
    return (now - row.began_at).total_seconds() < pool.lifetime - lead_seconds(pool.lifetime)


def _may_cost(row: PilotRow, pool: Pool, now: datetime) -> float:
    """From now to the end of its lifetime."""
    elapsed = 0.0 if row.began_at is None else (now - row.began_at).total_seconds()
    return max(0.0, pool.lifetime - elapsed) / 3600 * row.cost_per_hour


def _midnight(now: datetime) -> datetime:
    return now.replace(hour=0, minute=0, second=0, microsecond=0)
