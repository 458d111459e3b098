"""Logs and counts the start and end of boxes."""

from __future__ import annotations

import contextvars
import logging
import socket
import threading
import time
from collections.abc import Callable

from grader.errors import BoxUnavailable
from grader.sandbox.box import Box, BoxEnd, BoxMaker, BoxPurpose, BoxSpec, Clocked

log = logging.getLogger("grader.sandbox")

Started = Callable[[BoxPurpose, float, bool], None]


class WatchedBoxes:
    """The end is logged in the context (submission, request) that started or took the box, on any thread."""

    def __init__(self, maker: BoxMaker, started: Started | None = None) -> None:
        self.name, self.about = maker.name, maker.about
        self._maker = maker
        self._started = started

    def start(self, spec: BoxSpec) -> Box:
        began = time.monotonic()
        try:
            box = self._maker.start(spec)
        except BoxUnavailable:
            self._count(spec.purpose, began, False)
            raise
        seconds = self._count(spec.purpose, began, True)
        about = {"box": box.id, "purpose": spec.purpose.value, "kind": self.name}
        log.info("box_started", extra={**about, "seconds": seconds})
        return _WatchedBox(box, about)

    def _count(self, purpose: BoxPurpose, began: float, there: bool) -> float:
        seconds = round(time.monotonic() - began, 4)
        if self._started is not None:
            self._started(purpose, seconds, there)
        return seconds

    def reap(self) -> int:
        return self._maker.reap()


class _WatchedBox:
    def __init__(self, box: Box, about: dict[str, str]) -> None:
        self.id: str = box.id
        self.connection: socket.socket = box.connection
        self._box = box
        self._about = about
        self._began = time.monotonic()
        self._context = contextvars.copy_context()
        self._logged = threading.Lock()

    def end(self, wait_s: float = 0.0) -> BoxEnd | None:
        return self._box.end(wait_s)

    def kill(self) -> BoxEnd:
        end = self._box.kill()
        if self._logged.acquire(blocking=False):  # log an end once
            self._context.run(self._log_end, end)
        return end

    def live_for(self, seconds: float) -> None:
        clocked: Clocked = self._box  # type: ignore[assignment]
        clocked.live_for(seconds)

    def cpu_seconds(self) -> float:
        return self._box.cpu_seconds()

    def out_of_memory(self) -> bool:
        return self._box.out_of_memory()

    def output(self) -> bytes:
        return self._box.output()

    def _log_end(self, end: BoxEnd) -> None:
        seconds = round(time.monotonic() - self._began, 4)
        facts = {"reason": end.reason.value, "exit_code": end.exit_code, "signal": end.signal}
        known = {name: value for name, value in facts.items() if value is not None}
        log.info("box_ended", extra={**self._about, **known, "seconds": seconds})
