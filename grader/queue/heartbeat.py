"""The heartbeat of a worker: keeps its row and its lease alive, and learns of cancellations."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy.exc import SQLAlchemyError

from grader.logs import get_logger
from grader.records import leases, workers
from grader.records.claims import Claim
from grader.records.engine import clock, writing
from grader.schemas.hardware import GpuReading
from grader.service.platform import Platform

log = get_logger(__name__)

# A cancelled submission ends within about a second: so often is it looked at.
_LOOK_SECONDS = 0.5


@dataclass
class HeldLease:
    """The lease that the worker holds, and what the heartbeat learned about it."""

    claim: Claim
    cancel_requested: bool = False
    lost: bool = False


class Heartbeat:
    """A thread beside the judge. It never raises: a database that is away for a moment is tried again.

    ``drain`` is called at each beat with whether staff want the worker to take nothing more. ``read_gpu`` says how its
    GPU is.
    """

    def __init__(
        self,
        platform: Platform,
        name: str,
        drain: Callable[[bool], None] | None = None,
        read_gpu: Callable[[], GpuReading | None] | None = None,
    ) -> None:
        self._platform = platform
        self._name = name
        self._drain = drain
        self._read_gpu = read_gpu
        self._lease: HeldLease | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heart", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        self._thread.join()

    @contextmanager
    def hold(self, claim: Claim) -> Iterator[HeldLease]:
        """Keep the lease of ``claim`` while the block runs."""
        self._lease = lease = HeldLease(claim)
        try:
            yield lease
        finally:
            self._lease = None

    def _run(self) -> None:
        settings = self._platform.settings
        look = min(_LOOK_SECONDS, settings.heartbeat_s)
        next_beat = time.monotonic()
        while not self._stop.wait(look):
            lease = self._lease
            try:
                if time.monotonic() >= next_beat:
                    self._beat(lease)
                    next_beat = time.monotonic() + settings.heartbeat_s
                if lease is not None:
                    self._look(lease)
                if self._drain is not None:
                    with self._platform.sessions() as session:
                        draining = workers.draining(session, self._name)
                    self._drain(draining)
            except SQLAlchemyError as error:
                log.warning("heartbeat_missed", worker=self._name, error=type(error).__name__)

    def _beat(self, lease: HeldLease | None) -> None:
        reading = self._read_gpu() if self._read_gpu is not None else None
        with writing(self._platform.sessions) as session:
            now = clock(session)
            workers.beat(session, self._name, now, reading.model_dump(mode="json") if reading else None)
            if lease is not None:
                leases.renew(session, lease.claim, now + timedelta(seconds=self._platform.settings.lease_s))

    def _look(self, lease: HeldLease) -> None:
        with self._platform.sessions() as session:
            standing = leases.standing(session, lease.claim)
        lease.cancel_requested = standing.cancel_requested
        lease.lost = not standing.held
