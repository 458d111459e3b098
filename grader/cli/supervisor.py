"""Keeps the processes of a platform running: starts them, restarts what died, ends them all.

Every child gets a session of its own, so that Ctrl-C reaches only the supervisor, which then ends them in order: web
and workers first, Redis last. Each is also on a leash (Linux): it ends by itself when the supervisor is killed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from grader.cli.terminal import say
from grader.errors import GraderError
from grader.queue.stop_flag import StopFlag

# A worker that is judging lets go of its submission first; longer than this is a hang.
STOP_SECONDS = 10.0
# What dies again and again is restarted ever more slowly, so that it floods neither the log nor the machine.
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0
# Whoever lived this long was healthy: its next restart is quick again.
HEALTHY_SECONDS = 60.0


class Child:
    """One process that should always run."""

    def __init__(self, name: str, start: Callable[[], subprocess.Popen[bytes]]) -> None:
        self.name = name
        self._start = start
        self._pause = FIRST_PAUSE_SECONDS
        self._again_at: float | None = None
        self.restarts = 0
        self._begin()

    def _begin(self) -> None:
        self.process = self._start()
        self._started = time.monotonic()
        self._again_at = None

    def tend(self) -> None:
        """Notice a death and, after a pause, start it anew."""
        now = time.monotonic()
        if self._again_at is not None:
            if now >= self._again_at:
                self._begin_again()
            return
        if self.process.poll() is None:
            return
        if now - self._started > HEALTHY_SECONDS:
            self._pause = FIRST_PAUSE_SECONDS
        say(f"{self.name} {ended(self.process.returncode)}; it starts again in {self._pause:g} s.", "yellow")
        self._again_at = now + self._pause
        self._pause = min(2 * self._pause, LONGEST_PAUSE_SECONDS)

    def _begin_again(self) -> None:
        """What cannot be started now, on a full disk, say, must not end all that runs beside it."""
        try:
            self._begin()
            self.restarts += 1
        except (GraderError, OSError) as error:
            say(f"{self.name} cannot be started: {error} It is tried again in {self._pause:g} s.", "yellow")
            self._again_at = time.monotonic() + self._pause
            self._pause = min(2 * self._pause, LONGEST_PAUSE_SECONDS)

    def ask_to_end(self) -> None:
        self._again_at = None
        if self.process.poll() is None:
            self.process.terminate()

    def end(self, deadline: float) -> None:
        """Wait until ``deadline`` (monotonic) for its end, then kill it."""
        try:
            self.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            say(f"{self.name} does not end by itself; it is killed.", "yellow")
            self.process.kill()
            self.process.wait()


def start_python(arguments: Sequence[str], env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """This Python with ``arguments``, on the leash where the system has one."""
    command = [sys.executable, *arguments]
    if sys.platform.startswith("linux"):
        from grader.queue import parent_death

        command = [sys.executable, "-I", str(Path(parent_death.__file__)), str(os.getpid()), *command]
    return subprocess.Popen(command, env=dict(env), stdin=subprocess.DEVNULL, start_new_session=True)


def end_all(children: Sequence[Child]) -> None:
    """Ask all to end, give them ``STOP_SECONDS`` together, then kill."""
    for child in children:
        child.ask_to_end()
    deadline = time.monotonic() + STOP_SECONDS
    for child in children:
        child.end(deadline)


def ended(code: int) -> str:
    """How a process ended, in words."""
    return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"


@contextmanager
def asked_to_end() -> Iterator[threading.Event]:
    """An event that SIGINT and SIGTERM set; the old handlers come back afterwards."""
    asked = StopFlag()
    kinds = (signal.SIGINT, signal.SIGTERM)
    old = [signal.signal(kind, lambda *_: asked.set()) for kind in kinds]
    try:
        yield asked
    finally:
        for kind, handler in zip(kinds, old, strict=True):
            signal.signal(kind, handler)
