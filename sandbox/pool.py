"""Starts boxes ahead of need: importing torch takes seconds."""

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

# A reap takes older spares for forgotten ones.
IDLE_SECONDS = 3600.0
# Idle spares are replaced earlier, so nobody waits for that.
_OLD_SECONDS = 0.9 * IDLE_SECONDS
# For a box that could not be paused to finish loading while something waits to be timed.
_UNPAUSED_SECONDS = limits.BOX_START_SECONDS
_LOOK_MS = 250


class SpareBoxes:
    """Keeps up to ``count`` spares of ``spec``, whose wall clocks start when handed out.

    Thread-safe, except ``hold`` and ``release``, which only the judge calls.
    """

    def __init__(self, maker: BoxMaker, spec: BoxSpec, count: int, beside: int = 1) -> None:
        self.name, self.about = maker.name, maker.about
        self.count = count
        self._maker = maker
        self._spec = spec
        self._beside = beside
        self._spares: list[tuple[Box, float]] = []
        self._starting = 0
        # Boxes that do not exist yet, and boxes that load or use their GPU.
        self._making = 0
        self._loading: set[Box] = set()
        self._held = False
        self._paused: list[Pausable] = []
        self._changed = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._closed = False

    def start(self, spec: BoxSpec) -> Box:
        """A spare, which ends any ``hold``, or a new box."""
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
        return len(self._spares)

    def refill(self) -> None:
        with self._changed:
            self._threads = [thread for thread in self._threads if thread.is_alive()]
            room = self._beside - len(self._threads)
            for _ in range(min(room, self._missing())):
                thread = threading.Thread(target=self._fill, name="spare-boxes", daemon=True)
                self._threads.append(thread)
                thread.start()

    def wait(self) -> None:
        for thread in self._threads:
            thread.join()

    def hold(self) -> None:
        """Until ``release``, no box starts or begins to use its GPU. Pauses those that do, and waits for
        boxes in the making.
        """
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
        """End a box that loads too long: its engine may have paused it and failed."""
        end = time.monotonic() + _UNPAUSED_SECONDS
        while box in self._loading:
            if (left := end - time.monotonic()) <= 0:
                _end(box)
                left = _UNPAUSED_SECONDS
            self._changed.wait(left)

    def release(self) -> None:
        with self._changed:
            self._held = False
            _side_by_side(_resume, self._paused)
            self._paused.clear()
            self._changed.notify_all()

    def trim(self) -> None:
        """End surplus, old and dead boxes."""
        with self._changed:
            good = [
                (box, started)
                for box, started in self._spares
                if _is_well(box) and _age(started) < _OLD_SECONDS
            ]
            others = [spare for spare in self._spares if spare not in good]
            self._spares = good
        for box, _ in others:
            _end(box)
        while self.ready() > self.count and (spare := self._take()):
            _end(spare[0])

    def close(self) -> None:
        """Boxes that were handed out belong to their users."""
        with self._changed:
            self._closed = True
        self.release()
        self.wait()
        while spare := self._take():
            _end(spare[0])

    def _take(self, *, patient: bool = False) -> tuple[Box, float] | None:
        """``patient``: wait for a starting one if there is none."""
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
                return  # the next start() raises the error

    def _started(self) -> tuple[Box, float] | None:
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
        """Wait for the runner's hello or end. Ends a runner that is silent for too long."""
        looking = select.poll()
        looking.register(box.connection, select.POLLIN | select.POLLRDHUP)
        end = _too_late()
        while box.end() is None and not self._closed and time.monotonic() < end:
            if looking.poll(_LOOK_MS):
                if not self._waits_for_gpu(box):
                    return
                # Waiting for permission is free; the work after it has a limit.
                end = _too_late()
            elif self._held:
                end = _too_late()
        _end(box)

    def _waits_for_gpu(self, box: Box) -> bool:
        """Its imports are done. Lets it use its GPU once nothing is held."""
        said = _said(box)
        if said != IMPORTED:
            return bool(said) and IMPORTED.startswith(said)
        box.connection.recv(len(IMPORTED))
        with self._changed:
            while self._held and not self._closed:
                self._changed.wait()
            self._loading.add(box)
        with contextlib.suppress(OSError):
            box.connection.sendall(USE_GPU)
        return True


def _too_late() -> float:
    return time.monotonic() + limits.BOX_START_PATIENCE * limits.BOX_START_SECONDS


def _said(box: Box) -> bytes:
    with contextlib.suppress(OSError):
        return box.connection.recv(len(IMPORTED), socket.MSG_PEEK | socket.MSG_DONTWAIT)
    return b""


def _pause(box: Box) -> Pausable | None:
    pausable = cast("Pausable", box)  # not part of Box
    try:
        pausable.pause()
    except BoxUnavailable:
        with contextlib.suppress(BoxUnavailable):
            pausable.resume()  # an engine may have paused it without an answer
        return None
    return pausable


def _resume(box: Pausable) -> None:
    """End a box that cannot resume: its submission would seem slow."""
    try:
        box.resume()
    except BoxUnavailable:
        _end(cast("Box", box))


def _side_by_side(work: Callable[[Given], Result], boxes: Sequence[Given]) -> list[Result]:
    """An engine takes as long for one box as for all."""
    if not boxes:
        return []
    with ThreadPoolExecutor(max_workers=len(boxes)) as threads:
        return list(threads.map(work, boxes))


def _age(started: float) -> float:
    return time.monotonic() - started


def _is_well(box: Box) -> bool:
    """If its engine dies, the connection shows that first."""
    if box.connection.fileno() < 0:
        return False
    looking = select.poll()
    looking.register(box.connection, select.POLLRDHUP)
    return not looking.poll(0) and box.end() is None


def _end(box: Box) -> None:
    """The next reap removes what stays."""
    with contextlib.suppress(BoxUnavailable):
        box.kill()


def _restart_clock(box: Box, seconds: float) -> None:
    clocked: Clocked = box  # type: ignore[assignment]
    clocked.live_for(seconds)
