"""Boxes started ahead of need, so that nobody waits the seconds that importing torch takes."""

from __future__ import annotations

import contextlib
import logging
import select
import socket
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar, cast

from grader import limits
from grader.errors import BoxUnavailable
from grader.sandbox.box import IMPORTED, USE_GPU, Box, BoxMaker, BoxSpec, Clocked, Pausable

log = logging.getLogger("grader.sandbox")

Given = TypeVar("Given")
Result = TypeVar("Result")

# A spare box that waited longer than this is replaced: it would look like one that was forgotten.
IDLE_SECONDS = 3600.0
# It is ended before that where nothing is judged, so that whoever comes next finds a new one.
_OLD_SECONDS = 0.9 * IDLE_SECONDS
# How long a box that could not be paused may go on loading while something waits to be timed.
_UNPAUSED_SECONDS = limits.BOX_START_SECONDS
# How often a box that starts is looked at.
_LOOK_MS = 250


class SpareBoxes:
    """Up to ``count`` spare boxes of ``spec``. Each is handed out once; its wall clock starts when it is.

    It is a ``BoxMaker`` itself, so that its callers need not know. ``refill`` is explicit: the judge decides when
    the machine is quiet enough to start processes. ``beside``: how many start at a time. Thread-safe, but for ``hold``
    and ``release``, which are the judge's own.
    """

    def __init__(self, maker: BoxMaker, spec: BoxSpec, count: int, beside: int = 1) -> None:
        self.name, self.about = maker.name, maker.about
        self.count = count
        self._maker = maker
        self._spec = spec
        self._beside = beside
        self._spares: list[tuple[Box, float]] = []
        self._starting = 0
        # Of those, how many are not there yet, and those that are and load their program; of boxes with a GPU, those
        # that use it by now.
        self._making = 0
        self._loading: set[Box] = set()
        self._held = False
        self._paused: list[Pausable] = []
        self._changed = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._closed = False

    def start(self, spec: BoxSpec) -> Box:
        """A spare box where one is ready or about to be, else a new one. For the former, nothing is held any more."""
        if spec == self._spec:
            self.release()
        while spec == self._spec and (spare := self._take(patient=True)):
            box, started = spare
            if _is_well(box) and _age(started) < IDLE_SECONDS:
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
        """Start what is missing, on threads of its own."""
        with self._changed:
            self._threads = [it for it in self._threads if it.is_alive()]
            room = self._beside - len(self._threads)
            for _ in range(min(room, self._missing())):
                thread = threading.Thread(target=self._fill, name="spare-boxes", daemon=True)
                self._threads.append(thread)
                thread.start()

    def wait(self) -> None:
        """Wait until nothing starts any more."""
        for thread in self._threads:
            thread.join()

    def hold(self) -> None:
        """Until ``release``, no box starts and none begins to use its GPU. One that loads is paused; with a GPU, only
        once it uses that. One that is still being made is waited for."""
        with self._changed:
            if self._held:
                return
            self._held = True
            while self._making:
                self._changed.wait()
            loading = list(self._loading)
            paused = _side_by_side(_pause, loading)
            self._paused += [box for box in paused if box is not None]
            for box, done in zip(loading, paused, strict=True):
                if done is None:
                    self._wait_for(box)

    def _wait_for(self, box: Box) -> None:
        """Until it no longer loads. One that takes too long is ended: it may be paused although its engine failed."""
        end = time.monotonic() + _UNPAUSED_SECONDS
        while box in self._loading:
            if (left := end - time.monotonic()) <= 0:
                _end(box)
                left = _UNPAUSED_SECONDS
            self._changed.wait(left)

    def release(self) -> None:
        """Let what ``hold`` paused go on. Harmless where nothing is held."""
        with self._changed:
            self._held = False
            _side_by_side(_resume, self._paused)
            self._paused.clear()
            self._changed.notify_all()

    def trim(self) -> None:
        """End what is more than ``count``, and what nobody would be given: the next ``refill`` replaces that."""
        with self._changed:
            good = [it for it in self._spares if _is_well(it[0]) and _age(it[1]) < _OLD_SECONDS]
            others = [it for it in self._spares if it not in good]
            self._spares = good
        for box, _ in others:
            _end(box)
        while self.ready() > self.count and (spare := self._take()):
            _end(spare[0])

    def close(self) -> None:
        """Kill the spare boxes. A box that was handed out belongs to its user."""
        with self._changed:
            self._closed = True
        self.release()
        self.wait()
        while spare := self._take():
            _end(spare[0])

    def _take(self, *, patient: bool = False) -> tuple[Box, float] | None:
        """The spare that waited longest. ``patient``: where there is none, the next that is starting."""
        with self._changed:
            while patient and not self._spares and self._starting:
                self._changed.wait()
            return self._spares.pop(0) if self._spares else None

    def _missing(self) -> int:
        return 0 if self._closed else self.count - len(self._spares) - self._starting

    def _fill(self) -> None:
        while True:
            with self._changed:
                while self._held and not self._closed:
                    self._changed.wait()
                if self._missing() <= 0:
                    return
                self._starting += 1
                self._making += 1
            spare = None
            try:
                spare = self._started()
            finally:
                with self._changed:
                    self._starting -= 1
                    if spare is not None:
                        self._spares.append(spare)
                    self._changed.notify_all()
            if spare is None:
                return  # the next call of start() raises the error

    def _started(self) -> tuple[Box, float] | None:
        """A box that has started, its runner's imports included: it is as quiet then as it will be."""
        waiting = replace(self._spec, wall_seconds=self._spec.wall_seconds + IDLE_SECONDS)
        began = time.monotonic()
        box: Box | None = None
        try:
            box = self._maker.start(waiting)
        except BoxUnavailable:
            return None
        finally:
            with self._changed:
                self._making -= 1
                if box is not None and self._spec.gpu is None:
                    self._loading.add(box)
                self._changed.notify_all()
        try:
            if self._spec.supervised:
                self._hear(box)
        finally:
            with self._changed:
                self._loading.discard(box)
                self._changed.notify_all()
        ended = time.monotonic()
        seconds, purpose = round(ended - began, 4), self._spec.purpose.value
        log.info("spare_ready", extra={"box": box.id, "purpose": purpose, "seconds": seconds})
        return box, ended

    def _hear(self, box: Box) -> None:
        """Wait until the runner has said hello, or is over. One that says nothing for too long is ended."""
        looking = select.poll()
        looking.register(box.connection, select.POLLIN | select.POLLRDHUP)
        end = _too_late()
        while box.end() is None and not self._closed and time.monotonic() < end:
            if looking.poll(_LOOK_MS):
                if not self._waits_for_gpu(box):
                    return
                # However long it had to wait for its leave: what it does with it takes time, too.
                end = _too_late()
            elif self._held:
                end = _too_late()
        _end(box)

    def _waits_for_gpu(self, box: Box) -> bool:
        """Whether it has said no more than that it has imported all it needs. Then it may use its GPU once nothing is
        held any more."""
        said = _said(box)
        if said != IMPORTED:
            return bool(said) and IMPORTED.startswith(said)
        box.connection.recv(len(IMPORTED))
        with self._changed:
            while self._held and not self._closed:
                self._changed.wait()
            self._loading.add(box)
        with contextlib.suppress(OSError):  # it is over, which shows
            box.connection.sendall(USE_GPU)
        return True


def _too_late() -> float:
    """When a box that says nothing from now on is ended."""
    return time.monotonic() + limits.BOX_START_PATIENCE * limits.BOX_START_SECONDS


def _said(box: Box) -> bytes:
    """What begins what it said, and is left to be read."""
    with contextlib.suppress(OSError):
        return box.connection.recv(len(IMPORTED), socket.MSG_PEEK | socket.MSG_DONTWAIT)
    return b""


def _pause(box: Box) -> Pausable | None:
    """The box, where it could be paused."""
    pausable = cast("Pausable", box)  # every box that is held ready is one; Box does not say so
    try:
        pausable.pause()
    except BoxUnavailable:
        with contextlib.suppress(BoxUnavailable):
            pausable.resume()  # an engine may have paused it and failed to say so
        return None
    return pausable


def _resume(box: Pausable) -> None:
    """A box that cannot go on is ended: its connection looks well, and whose source it gets would be called slow."""
    try:
        box.resume()
    except BoxUnavailable:  # it is over, or its engine away
        _end(cast("Box", box))


def _side_by_side(work: Callable[[Given], Result], boxes: Sequence[Given]) -> list[Result]:
    """An engine takes as long for one as for all."""
    if not boxes:
        return []
    with ThreadPoolExecutor(max_workers=len(boxes)) as threads:
        return list(threads.map(work, boxes))


def _age(started: float) -> float:
    return time.monotonic() - started


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
    clocked: Clocked = box  # type: ignore[assignment]
    clocked.live_for(seconds)
