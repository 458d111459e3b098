from __future__ import annotations

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
from grader.service.periodic import Periodic
from grader.service.platform import Platform

log = get_logger(__name__)

# A cancelled submission ends within about a second.
_LOOK_SECONDS = 0.5


@dataclass
class HeldLease:
    claim: Claim
    cancel_requested: bool = False
    lost: bool = False


class Heartbeat(Periodic):
    """``drain`` gets True each turn while staff drain the worker."""

    def __init__(
        self,
        platform: Platform,
        name: str,
        drain: Callable[[bool], None] | None = None,
        read_gpu: Callable[[], GpuReading | None] | None = None,
    ) -> None:
        super().__init__("heart", min(_LOOK_SECONDS, platform.settings.heartbeat_s))
        self._platform = platform
        self._name = name
        self._drain = drain
        self._read_gpu = read_gpu
        self._lease: HeldLease | None = None
        self._next_beat = time.monotonic()

    @contextmanager
    def hold(self, claim: Claim) -> Iterator[HeldLease]:
        self._lease = lease = HeldLease(claim)
        try:
            yield lease
        finally:
            self._lease = None

    def run_once(self) -> None:
        lease = self._lease
        try:
            if time.monotonic() >= self._next_beat:
                self._beat(lease)
                self._next_beat = time.monotonic() + self._platform.settings.heartbeat_s
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
            standing = leases.lease_state(session, lease.claim)
        lease.cancel_requested = standing.cancel_requested
        lease.lost = not standing.held
