"""Boxes started ahead of need, so that nobody waits the seconds that importing torch takes."""

from __future__ import annotations

import contextlib
import logging
import select
import threading
import time
from dataclasses import replace
from typing import Protocol

from grader.errors import BoxUnavailable
from grader.sandbox.box import Box, BoxMaker, BoxSpec

log = logging.getLogger("grader.sandbox")

# A spare box that waited longer than this is replaced: it would look like one that was forgotten.
IDLE_SECONDS = 3600.0


class _Clocked(Protocol):
    def live_for(self, seconds: float) -> None: ...


class SpareBoxes:
    """Up to ``count`` spare boxes of ``spec``. Each is handed out once; its wall clock starts when it is.

    It is a ``BoxMaker`` itself, so that its callers need not know. ``refill`` is explicit: the judge decides when
    the machine is quiet enough to start processes.
    """

    def __init__(self, maker: BoxMaker, spec: BoxSpec, count: int) -> None:
        self.name, self.about = maker.name, maker.about
        self._maker = maker
        self._spec = spec
        self._count = count
        self._spares: list[tuple[Box, float]] = []
        self._lock = threading.Lock()
        self._filling: threading.Thread | None = None
        self._closed = False

    def start(self, spec: BoxSpec) -> Box:
        while spec == self._spec and (spare := self._take()):
            box, started = spare
            if _is_well(box) and time.monotonic() - started < IDLE_SECONDS:
                _restart_clock(box, spec.wall_seconds)
                return box
            _end(box)
        return self._maker.start(spec)

    def reap(self) -> int:
        return self._maker.reap()

    def ready(self) -> int:
        """How many spare boxes wait."""
        return len(self._spares)

    def refill(self) -> None:
        """Start what is missing, on a thread of its own. Does nothing while an earlier call is still at it."""
        with self._lock:
            busy = self._filling is not None and self._filling.is_alive()
            if self._closed or busy or len(self._spares) >= self._count:
                return
            self._filling = threading.Thread(target=self._fill, name="spare-boxes", daemon=True)
            self._filling.start()

    def wait(self) -> None:
        """Wait until a running refill has finished."""
        if filling := self._filling:
            filling.join()

    def close(self) -> None:
        """Kill the spare boxes. A box that was handed out belongs to its user."""
        with self._lock:
            self._closed = True
        self.wait()
        while spare := self._take():
            _end(spare[0])

    def _take(self) -> tuple[Box, float] | None:
        with self._lock:
            return self._spares.pop(0) if self._spares else None

    def _fill(self) -> None:
        waiting = replace(self._spec, wall_seconds=self._spec.wall_seconds + IDLE_SECONDS)
        while not self._closed and len(self._spares) < self._count:
            began = time.monotonic()
            try:
                box = self._maker.start(waiting)
            except BoxUnavailable:
                return  # the next call of start() raises the error
            seconds = round(time.monotonic() - began, 4)
            log.info(
                "spare_ready", extra={"box": box.id, "purpose": self._spec.purpose.value, "seconds": seconds}
            )
            with self._lock:
                self._spares.append((box, time.monotonic()))


def _is_well(box: Box) -> bool:
    """Whether it lives, also by its connection: a box whose engine went away ends before its thread notices."""
    if box.connection.fileno() < 0:
        return False  # ended by us
    looking = select.poll()
    looking.register(box.connection, select.POLLRDHUP)
    return not looking.poll(0) and box.end() is None


def _end(box: Box) -> None:
    """Kill a spare box. Where its engine does not answer, the next reap removes it by its label, and the other spare
    boxes are still killed."""
    with contextlib.suppress(BoxUnavailable):
        box.kill()


def _restart_clock(box: Box, seconds: float) -> None:
    clocked: _Clocked = box  # type: ignore[assignment]
    clocked.live_for(seconds)
