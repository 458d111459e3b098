"""Repairs after dead processes (expired leases, missing wake-ups, silent workers, orphaned boxes), and lets batches'
entries into the queue."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from sqlalchemy.exc import SQLAlchemyError

from grader.logs import get_logger
from grader.records import leases, worker_tokens, workers
from grader.records.engine import clock, writing
from grader.service.accounts import deletion
from grader.service.operation import retention
from grader.service.operation.queues import issue_missing_wakeups
from grader.service.periodic import Periodic
from grader.service.platform import Platform
from grader.service.submissions import batches
from grader.settings import Settings

log = get_logger(__name__)

# The last submissions of an expired token's workers.
_AFTER_TOKENS = timedelta(days=1)


class Reaper(Protocol):
    def reap(self) -> int:
        """Kill boxes whose parent is gone, and return their number."""


@dataclass(frozen=True)
class Swept:
    reclaimed: int = 0
    wakeups: int = 0
    dead_workers: int = 0
    boxes: int = 0
    pruned: int = 0
    deleted: int = 0
    admitted: int = 0


class ExpiryGuard:
    """Forbids expiring leases while a live worker may have been unable to renew one: shortly after the start,
    a database outage, a freeze of this process or its host, or a step of the clock.
    """

    _late_s = 1.0

    def __init__(self, settings: Settings) -> None:
        self._moment_s = max(2 * settings.heartbeat_s, self._late_s)
        self._gap_s = settings.sweep_s + self._moment_s
        self._looked = time.monotonic()
        self._offset: float | None = None
        self.delay_expiry()

    def delay_expiry(self) -> None:
        self._trusts_from = time.monotonic() + self._moment_s

    def may_expire(self, now: datetime, took_s: float) -> bool:
        """``now``: by the leases' clock, read in a transaction of ``took_s`` seconds."""
        moment = time.monotonic()
        offset, gap = now.timestamp() - moment, moment - self._looked
        stepped = self._offset is not None and abs(offset - self._offset) > self._late_s
        self._offset, self._looked = offset, moment
        if stepped or took_s > self._moment_s or gap > self._gap_s:
            log.warning("leases_left_alone", stepped=stepped, waited_s=round(took_s, 1), gap_s=round(gap, 1))
            self.delay_expiry()
        return moment >= self._trusts_from


def sweep(platform: Platform, boxes: Reaper | None = None, watch: ExpiryGuard | None = None) -> Swept:
    """Sweepers may run in parallel. Without ``watch``, end every expired lease."""
    done = Swept(
        reclaimed=_part("leases", lambda: _reclaim(platform, watch)),
        wakeups=_part("wakeups", lambda: issue_missing_wakeups(platform)),
        dead_workers=_part("workers", lambda: _mark_dead(platform)),
        boxes=_part("boxes", lambda: boxes.reap() if boxes else 0),
        pruned=_part("prune", lambda: retention.prune_if_due(platform)),
        deleted=_part("deletions", lambda: deletion.carry_out(platform)),
        admitted=_part("batches", lambda: batches.admit_all(platform)),
    )
    if done != Swept():
        log.info("swept", **done.__dict__)
    return done


def _part(name: str, work: Callable[[], int]) -> int:
    try:
        return work()
    except Exception as error:
        log.warning("sweep_part_failed", part=name, error=f"{type(error).__name__}: {error}")
        return 0


def _reclaim(platform: Platform, watch: ExpiryGuard | None) -> int:
    began, settings = time.monotonic(), platform.settings
    try:
        with writing(platform.sessions) as session:
            now = clock(session)
            leases.shorten(session, now + timedelta(seconds=settings.lease_s))
    except Exception:
        if watch is not None:
            watch.delay_expiry()
        raise
    if watch is not None and not watch.may_expire(now, time.monotonic() - began):
        return 0
    cap = settings.attempts
    with platform.sessions() as session:
        found = leases.expired(session, now)
    reclaimed = 0
    for submission, attempt in found:
        with writing(platform.sessions) as session:
            state = leases.reclaim(session, submission, attempt, now, cap)
        if state is not None:
            reclaimed += 1
            log.warning("lease_expired", row=submission, attempt=attempt, state=state.value)
    return reclaimed


def _mark_dead(platform: Platform) -> int:
    with writing(platform.sessions) as session:
        return workers.mark_dead(session, clock(session), platform.settings.lease_s)


class RemoteWorkersSweeper(Periodic):
    """In the web: sweeps while there are tokens of workers over HTTPS, which cannot."""

    def __init__(self, platform: Platform) -> None:
        super().__init__("sweeper", platform.settings.sweep_s)
        self._platform = platform
        self._watch = ExpiryGuard(platform.settings)

    def run_once(self) -> None:
        try:
            with self._platform.sessions() as session:
                wanted = worker_tokens.any_since(session, clock(session) - _AFTER_TOKENS)
        except SQLAlchemyError as error:
            log.warning("sweep_part_failed", part="tokens", error=type(error).__name__)
            return
        if wanted:
            sweep(self._platform, watch=self._watch)


class Sweeper(Periodic):
    def __init__(self, platform: Platform, boxes: Reaper | None = None) -> None:
        super().__init__("sweeper", platform.settings.sweep_s, at_once=True)
        self._platform = platform
        self._boxes = boxes
        self._watch = ExpiryGuard(platform.settings)

    def run_once(self) -> None:
        sweep(self._platform, self._boxes, self._watch)
