"""A judgement's seconds by phase, for benchmarks.

Phases nest; each second belongs to the innermost, so they add up. ``timing: draw`` also names the outermost phase below
the one around all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Recorder:
    """``settle`` waits for the device, else a later phase pays for enqueued work."""

    def __init__(self, settle: Callable[[], None] | None = None) -> None:
        self.seconds: dict[str, float] = {}
        self.settle = settle
        self._open: list[str] = []
        self._since = time.perf_counter()

    def enter(self, name: str) -> None:
        self._charge()
        self._open.append(name)

    def leave(self) -> None:
        self._charge()
        self._open.pop()

    def _charge(self) -> None:
        now = time.perf_counter()
        if self._open:
            name = ": ".join(dict.fromkeys((*self._open[1:2], self._open[-1])))
            self.seconds[name] = self.seconds.get(name, 0.0) + now - self._since
        self._since = now


_recorder: ContextVar[Recorder | None] = ContextVar("phases", default=None)


@contextmanager
def recorded(recorder: Recorder | None) -> Iterator[None]:
    """On this thread."""
    token = _recorder.set(recorder)
    try:
        yield
    finally:
        _recorder.reset(token)


@contextmanager
def phase(name: str, *, enqueues: bool = False) -> Iterator[None]:
    """``enqueues``: a recorder waits for the device. Never within a round: its stream is held."""
    recorder = _recorder.get()
    if recorder is None:
        yield
        return
    recorder.enter(name)
    try:
        yield
        if enqueues and recorder.settle is not None:
            recorder.settle()
    finally:
        recorder.leave()
