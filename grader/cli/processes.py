"""Child processes that are restarted when they die, and end together.

Each child has a session, so Ctrl-C only reaches this process. On Linux a child also ends when this process is
killed.
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

CHECK_SECONDS = 0.2
# A worker first releases its submission; longer than this is a hang.
STOP_SECONDS = 10.0
# Doubles with each death, so a child that cannot run floods neither log nor machine.
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0
# A child that ran this long restarts quickly again.
HEALTHY_SECONDS = 60.0


class ChildProcess:
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

    def check(self) -> None:
        now = time.monotonic()
        if self._again_at is not None:
            if now >= self._again_at:
                self._begin_again()
            return
        if self.process.poll() is None:
            return
        if now - self._started > HEALTHY_SECONDS:
            self._pause = FIRST_PAUSE_SECONDS
        say(f"{self.name} {ended(self.process.returncode)}; restarting in {self._pause:g} s.", "yellow")
        self._again_at = now + self._pause
        self._pause = min(2 * self._pause, LONGEST_PAUSE_SECONDS)

    def _begin_again(self) -> None:
        """A child that cannot start (a full disk) must not end the others."""
        try:
            self._begin()
            self.restarts += 1
        except (GraderError, OSError) as error:
            say(f"{self.name} cannot be started: {error} Trying again in {self._pause:g} s.", "yellow")
            self._again_at = time.monotonic() + self._pause
            self._pause = min(2 * self._pause, LONGEST_PAUSE_SECONDS)

    def ask_to_end(self) -> None:
        self._again_at = None
        if self.process.poll() is None:
            self.process.terminate()

    def end(self, deadline: float) -> None:
        """Kills it after ``deadline`` (monotonic)."""
        try:
            self.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            say(f"{self.name} does not end; killing it.", "yellow")
            self.process.kill()
            self.process.wait()


def start_python(arguments: Sequence[str], env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Ends when this process dies (Linux)."""
    command = [sys.executable, *arguments]
    if sys.platform.startswith("linux"):
        from grader.queue import parent_death

        command = [sys.executable, "-I", str(Path(parent_death.__file__)), str(os.getpid()), *command]
    return subprocess.Popen(command, env=dict(env), stdin=subprocess.DEVNULL, start_new_session=True)


def end_all(children: Sequence[ChildProcess]) -> None:
    """Kills those left after ``STOP_SECONDS``."""
    for child in children:
        child.ask_to_end()
    deadline = time.monotonic() + STOP_SECONDS
    for child in children:
        child.end(deadline)


def ended(code: int) -> str:
    """``was ended by signal 9``."""
    return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"


@contextmanager
def stop_on_signal() -> Iterator[threading.Event]:
    """Restores the previous handlers."""
    stop = StopFlag()
    kinds = (signal.SIGINT, signal.SIGTERM)
    previous = [signal.signal(kind, lambda *_: stop.set()) for kind in kinds]
    try:
        yield stop
    finally:
        for kind, handler in zip(kinds, previous, strict=True):
            signal.signal(kind, handler)
