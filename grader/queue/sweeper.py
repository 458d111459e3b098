"""Puts right what a death left behind: expired leases, missing tickets, silent workers, orphaned boxes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import structlog

from grader.records import leases, workers
from grader.records.engine import writing
from grader.records.models import utcnow
from grader.service.platform import Platform
from grader.service.queues import issue_missing_tickets

log = structlog.get_logger(__name__)


class Reaper(Protocol):
    """What the sweeper needs of a ``BoxMaker``."""

    def reap(self) -> int:
        """Kill boxes whose parent is gone; how many."""


@dataclass(frozen=True)
class Swept:
    """What one sweep did."""

    reclaimed: int = 0
    tickets: int = 0
    dead_workers: int = 0
    boxes: int = 0


def sweep(platform: Platform, boxes: Reaper | None = None) -> Swept:
    """One sweep. Any number of sweepers may run at once; a part that fails is logged and tried next time."""
    done = Swept(
        reclaimed=_part(_reclaim, platform),
        tickets=_part(issue_missing_tickets, platform),
        dead_workers=_part(_mark_dead, platform),
        boxes=_part(lambda _: boxes.reap() if boxes else 0, platform),
    )
    if done != Swept():
        log.info("swept", **done.__dict__)
    return done


def _part(work: Callable[[Platform], int], platform: Platform) -> int:
    try:
        return work(platform)
    except Exception as error:  # one part that fails must not keep the others from their work
        log.warning(
            "sweep_part_failed", part=getattr(work, "__name__", "?"), error=f"{type(error).__name__}: {error}"
        )
        return 0


def _reclaim(platform: Platform) -> int:
    now, cap = utcnow(), platform.settings.attempts
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
        return workers.mark_dead(session, utcnow(), platform.settings.lease_s)


class Sweeper:
    """Sweeps every ``settings.sweep_s`` seconds in a thread, the first time at once."""

    def __init__(self, platform: Platform, boxes: Reaper | None = None) -> None:
        self._platform = platform
        self._boxes = boxes
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sweeper", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while True:
            sweep(self._platform, self._boxes)
            if self._stop.wait(self._platform.settings.sweep_s):
                return
