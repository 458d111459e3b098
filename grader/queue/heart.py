"""The heartbeat of a worker: keeps its row and its lease alive, and hears of cancellations."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import structlog
from sqlalchemy.exc import SQLAlchemyError

from grader.records import leases, workers
from grader.records.claims import Claim
from grader.records.engine import writing
from grader.records.models import utcnow
from grader.service.platform import Platform

log = structlog.get_logger(__name__)

# A cancelled submission ends within about a second: so often is it looked at.
_LOOK_SECONDS = 0.5


@dataclass
class Grip:
    """What the worker holds, and what the heart has heard about it."""

    claim: Claim
    cancel_requested: bool = False
    lost: bool = False


class Heart:
    """A thread beside the judge. It never raises: a database that is away for a moment is tried again."""

    def __init__(self, platform: Platform, name: str) -> None:
        self._platform = platform
        self._name = name
        self._grip: Grip | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heart", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        self._thread.join()

    @contextmanager
    def hold(self, claim: Claim) -> Iterator[Grip]:
        """Keep the lease of ``claim`` while the block runs."""
        self._grip = grip = Grip(claim)
        try:
            yield grip
        finally:
            self._grip = None

    def _run(self) -> None:
        settings = self._platform.settings
        look = min(_LOOK_SECONDS, settings.heartbeat_s)
        next_beat = time.monotonic()
        while not self._stop.wait(look):
            grip = self._grip
            try:
                if time.monotonic() >= next_beat:
                    self._beat(grip)
                    next_beat = time.monotonic() + settings.heartbeat_s
                if grip is not None:
                    self._look(grip)
            except SQLAlchemyError as error:
                log.warning("heartbeat_missed", worker=self._name, error=type(error).__name__)

    def _beat(self, grip: Grip | None) -> None:
        now = utcnow()
        with writing(self._platform.sessions) as session:
            workers.beat(session, self._name, now)
            if grip is not None:
                leases.renew(session, grip.claim, now + timedelta(seconds=self._platform.settings.lease_s))

    def _look(self, grip: Grip) -> None:
        with self._platform.sessions() as session:
            standing = leases.standing(session, grip.claim)
        grip.cancel_requested = standing.cancel_requested
        grip.lost = not standing.held
