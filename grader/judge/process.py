"""A judge in a separate process, warm between submissions: what breaks there does not affect the worker.

Worker and judge exchange JSON lines over a socket pair and trust each other.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from grader import limits
from grader.errors import BoxUnavailable, GraderError, JudgeFailure
from grader.judge.job import Job, JudgingProgress, Outcome
from grader.sandbox.allowance import Allowance
from grader.sandbox.box import readable
from grader.sandbox.options import DEFAULTS, SandboxOptions
from grader.sandbox.processes import cpu_seconds, descendants

# Processor time, mostly for importing torch.
_READY_SECONDS = 120.0
# The child checks at least this often; then it is killed.
_CANCEL_SECONDS = 15.0
_POLL_SECONDS = 0.25
# A probe takes milliseconds.
_PROBE_SECONDS = 60.0
_BOX_SECONDS = limits.BOX_START_PATIENCE * limits.BOX_START_SECONDS + 30.0
# Mostly for compiling kernels once.
_CALIBRATE_SECONDS = 300.0
# Nothing can end a killed child that waits in the kernel for a hanging device.
_KILL_SECONDS = 30.0
# Waiting for a box, a judge sends messages: a longer silence means that it is stuck.
_SILENT_SECONDS = limits.BOX_WALL_SECONDS + 60.0


class Cancelled(Exception):
    """The submission was cancelled during judging."""


class JsonStream:
    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._pending = bytearray()

    def send(self, message: dict[str, Any]) -> None:
        self._connection.sendall(json.dumps(message).encode() + b"\n")

    def receive(self, seconds: float) -> dict[str, Any] | None:
        """None after ``seconds`` without a message. Raises EOFError if the other side ended."""
        end = time.monotonic() + seconds
        looked = 0
        # Search only new data: a job may hold a library of many megabytes.
        while (length := self._pending.find(b"\n", looked)) < 0:
            looked = len(self._pending)
            if not readable(end - time.monotonic(), self._connection):
                return None
            data = self._connection.recv(1 << 16)
            if not data:
                raise EOFError("the other side ended")
            self._pending += data
        message: dict[str, Any] = json.loads(self._pending[:length])
        del self._pending[: length + 1]
        return message


def _failure(reported: dict[str, str]) -> GraderError:
    kind = BoxUnavailable if reported.get("code") == BoxUnavailable.code else JudgeFailure
    return kind(reported["message"], reported["hint"])


class JudgeProcess:
    def __init__(
        self,
        box_kind: str,
        spare_boxes: int = 1,
        device: str = "cpu",
        gpu: int | Sequence[int] = 0,
        options: SandboxOptions = DEFAULTS,
        folder: Path | None = None,
    ) -> None:
        """``device``: the board. ``gpu``: an index, or several. ``folder``: the data folder."""
        kept = str(folder) if folder is not None else ""
        numbers = ",".join(map(str, [gpu] if isinstance(gpu, int) else gpu))
        self._arguments = [box_kind, str(spare_boxes), device, numbers, kept, options.as_json()]
        self._child: subprocess.Popen[bytes] | None = None
        self._connection: socket.socket | None = None
        self._ready: dict[str, str] = {}

    def __enter__(self) -> JudgeProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        return self._child.pid if self._child is not None else None

    @property
    def device_model(self) -> str:
        self._lines()
        return self._ready["device_model"]

    @property
    def torch_version(self) -> str:
        self._lines()
        return self._ready["torch"]

    @property
    def architecture(self) -> str:
        self._lines()
        return self._ready["architecture"]

    def warm_up(self) -> None:
        """Start the child ahead. Raises JudgeFailure, BoxUnavailable."""
        self._lines()

    def probe(self) -> None:
        """In a fresh child: an old context must not decide. Raises JudgeFailure, BoxUnavailable."""
        self._end_child()
        self._ask("probe", _PROBE_SECONDS)

    def try_box(self) -> None:
        """Raises BoxUnavailable, or JudgeFailure without a child."""
        self._ask("box", _BOX_SECONDS)

    def calibrate(self) -> dict[str, float]:
        """See ``RatedDevice``. Raises JudgeFailure."""
        return {
            name: float(value)
            for name, value in self._ask("calibrate", _CALIBRATE_SECONDS)["ceilings"].items()
        }

    def _ask(self, what: str, seconds: float) -> dict[str, Any]:
        lines = self._lines()
        try:
            lines.send({what: True})
            answer = lines.receive(seconds)
        except (EOFError, OSError) as error:
            raise JudgeFailure(
                f"the judge process ended during a {what} (exit code {self._end_child()})"
            ) from error
        if answer is None:
            self._end_child()
            raise JudgeFailure(f"the judge process did not finish its {what} within {seconds:g} s")
        if "failure" in answer:
            raise _failure(answer["failure"])
        return answer

    def run(
        self, job: Job, on_progress: Callable[[JudgingProgress], None], cancelled: Callable[[], bool]
    ) -> Outcome:
        """Raises Cancelled, or JudgeFailure if the judge fails."""
        lines = self._lines()
        try:
            lines.send({"job": job.model_dump(mode="json")})
            return self._follow(lines, job.submission, on_progress, cancelled)
        except (EOFError, OSError) as error:
            code = self._end_child()
            raise JudgeFailure(f"the judge process ended during a submission (exit code {code})") from error

    def _follow(
        self,
        lines: JsonStream,
        submission: str,
        on_progress: Callable[[JudgingProgress], None],
        cancelled: Callable[[], bool],
    ) -> Outcome:
        asked_to_stop: float | None = None
        last_message = time.monotonic()
        while True:
            message = lines.receive(_POLL_SECONDS)
            now = time.monotonic()
            if message is not None:
                last_message = now
                if "outcome" in message:
                    return Outcome.model_validate(message["outcome"])
                if "cancelled" in message:
                    raise Cancelled
                if "failure" in message:
                    raise _failure(message["failure"])
                if "progress" in message:
                    on_progress(JudgingProgress.model_validate(message["progress"]))
            if asked_to_stop is None and cancelled():
                lines.send({"cancel": submission})
                asked_to_stop = now
            if asked_to_stop is not None and now - asked_to_stop > _CANCEL_SECONDS:
                self._end_child()
                raise Cancelled
            if now - last_message > _SILENT_SECONDS:
                self._end_child()
                raise JudgeFailure(f"the judge process was silent for {_SILENT_SECONDS:g} s")

    def _lines(self) -> JsonStream:
        if self._child is None or self._child.poll() is not None:
            self._end_child()
            self._start_child()
        assert self._connection is not None
        return JsonStream(self._connection)

    def _start_child(self) -> None:
        ours, theirs = socket.socketpair()
        arguments = [str(theirs.fileno()), *self._arguments]
        self._child = subprocess.Popen(
            [sys.executable, "-m", "grader.judge.child", *arguments],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
        )
        theirs.close()
        self._connection = ours
        try:
            ready = self._first_line(JsonStream(ours), self._child.pid)
        except EOFError as error:
            raise JudgeFailure(f"the judge process did not start (exit code {self._end_child()})") from error
        if "failure" in ready:
            self._end_child()
            raise _failure(ready["failure"])
        self._ready = ready["ready"]

    def _first_line(self, lines: JsonStream, pid: int) -> dict[str, Any]:
        """Raises EOFError, JudgeFailure."""
        allowance = Allowance(
            _READY_SECONDS,
            lambda: sum(map(cpu_seconds, descendants(pid))),
            patience=limits.BOX_START_PATIENCE,
        )
        while allowance.left():
            if (message := lines.receive(_POLL_SECONDS)) is not None:
                return message
        self._end_child()
        raise JudgeFailure(f"the judge process was not ready within {allowance.sentence()}")

    def _end_child(self) -> int | None:
        child, connection = self._child, self._connection
        self._child = self._connection = None
        if connection is not None:
            connection.close()
        if child is None:
            return None
        try:
            return child.wait(timeout=5.0)
        except subprocess.TimeoutExpired:
            child.kill()
        try:
            return child.wait(timeout=_KILL_SECONDS)
        except subprocess.TimeoutExpired:
            return None

    def close(self) -> None:
        """May be called again."""
        self._end_child()
