from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from grader.logs import get_logger
from grader.queue.coordinator import FAILED, Coordinator
from grader.records.claims import Claim
from grader.schemas.hardware import GpuReading
from grader.service.periodic import Periodic

log = get_logger(__name__)


@dataclass
class HeldLease:
    claim: Claim
    cancel_requested: bool = False
    lost: bool = False


class Heartbeat(Periodic):
    """``drain`` gets True each turn while staff drain the worker."""

    def __init__(
        self,
        coordinator: Coordinator,
        drain: Callable[[bool], None] | None = None,
        read_gpu: Callable[[], GpuReading | None] | None = None,
    ) -> None:
        super().__init__("heart", coordinator.look_s)
        self._coordinator = coordinator
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
        beats = time.monotonic() >= self._next_beat
        reading = self._read_gpu() if beats and self._read_gpu is not None else None
        try:
            standing = self._coordinator.look(lease.claim if lease is not None else None, beats, reading)
        except FAILED as error:
            log.warning("heartbeat_missed", worker=self._coordinator.name, error=type(error).__name__)
            return
        if beats:
            self._next_beat = time.monotonic() + self._coordinator.heartbeat_s
        if lease is not None:
            lease.cancel_requested, lease.lost = standing.cancel_requested, not standing.held
        if self._drain is not None:
            self._drain(standing.draining)
