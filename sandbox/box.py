"""What every kind of box promises: a process that cannot harm the host, and one socket to talk to it.

A box is used by one submission (or one control, baseline or compilation) and then killed. The parent owns its life:
it may be killed at any moment, by any thread, more than once.
"""

from __future__ import annotations

import json
import os
import signal as signals
import socket
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol

from grader import limits
from grader.sandbox.gpu import Gpu
from grader.sandbox.processor import Share

RUNNER_PROGRAM = "main.py"


def _framed(message: Mapping[str, str]) -> bytes:
    """As the runner's ``protocol.py`` has it."""
    body = json.dumps(message).encode()
    return len(body).to_bytes(4, "little") + body


# A box with a GPU says that it has imported all that it needs, and waits for leave to use the GPU.
IMPORTED, USE_GPU = _framed({"op": "imported"}), _framed({"op": "use_gpu"})


class BoxPurpose(StrEnum):
    RUN = "run"
    COMPILE = "compile"
    CONTROL = "control"
    BASELINE = "baseline"
    CHECK = "check"


@dataclass(frozen=True)
class BoxSpec:
    """What a box is for and how much it may use. ``program`` is a file of ``sandbox/runner``.

    ``gpu``: the one that the box may use; CUDA needs ``limits.GPU_BOX_MEMORY_BYTES`` of host memory then.
    ``share``: of a processor that others want, too; ``cores``: the only ones it may use (empty: any).
    ``compute_libraries``: whether it sees the host's libraries of ready-made kernels, such as cuBLAS; a local box does.
    ``bytecode``: a folder of the host's, see ``grader.sandbox.bytecode``.
    """

    purpose: BoxPurpose
    program: str = RUNNER_PROGRAM
    env: Mapping[str, str] = field(default_factory=dict)
    memory_bytes: int = limits.BOX_MEMORY_BYTES
    tmp_bytes: int = limits.BOX_TMP_BYTES
    pids: int = limits.BOX_PIDS
    cpus: float = limits.BOX_CPUS
    output_bytes: int = limits.OUTPUT_BYTES
    start_seconds: float = limits.BOX_START_SECONDS
    wall_seconds: float = limits.BOX_WALL_SECONDS
    gpu: Gpu | None = None
    share: Share = Share.FULL
    cores: tuple[int, ...] = ()
    compute_libraries: bool = True
    bytecode: str = ""

    @property
    def supervised(self) -> bool:
        """Whether the program loads submissions, and so runs below a supervisor (see ``runner/supervise.py``)."""
        return self.program == RUNNER_PROGRAM


class EndReason(StrEnum):
    """Why a box is no longer alive. The first reason that applied is kept."""

    EXITED = "exited"
    SIGNALLED = "signalled"
    OUT_OF_MEMORY = "out_of_memory"
    OUTPUT_FLOOD = "output_flood"
    WALL_CLOCK = "wall_clock"
    KILLED = "killed"


@dataclass(frozen=True)
class BoxEnd:
    """``outside``: something outside the box killed it. True only where nothing inside can have done so."""

    reason: EndReason
    exit_code: int | None = None
    signal: int | None = None
    outside: bool = False

    @classmethod
    def of_code(cls, code: int, memory_kills: int = 0, at_limit: bool = True) -> BoxEnd:
        """Of a process that ended with ``code``, a negative one for a signal, as ``subprocess`` has it.
        ``memory_kills``: number of the box's processes that the kernel killed for lack of memory; not ``at_limit``:
        though the box had not used all that it may, so it was the host that ran out of memory."""
        if code >= 0:
            return cls(EndReason.EXITED, exit_code=code)
        if -code == signals.SIGKILL and memory_kills:
            return cls(EndReason.OUT_OF_MEMORY) if at_limit else cls(EndReason.KILLED, outside=True)
        return cls(EndReason.SIGNALLED, signal=-code)

    def of_supervisor(self) -> BoxEnd:
        """The same where what ended so is the box's supervisor, which nothing inside can end."""
        # What operators, service managers and kernels end processes with. (Not every system has both names.)
        killed = self.reason is EndReason.KILLED or (
            self.reason is EndReason.SIGNALLED and self.signal in (signals.SIGKILL, signals.SIGTERM)
        )
        return replace(self, outside=killed)

    def sentence(self) -> str:
        """How it ended, in words for a student."""
        if self.outside:
            return "the box was killed from outside"
        if self.reason is EndReason.EXITED:
            return f"the process ended itself with exit code {self.exit_code}"
        if self.reason is EndReason.SIGNALLED:
            return f"the process was ended by signal {self.signal}"
        return {
            EndReason.OUT_OF_MEMORY: "the process used more memory than a box may use",
            EndReason.OUTPUT_FLOOD: "the process printed more than a box may print",
            EndReason.WALL_CLOCK: "the box lived longer than a box may live",
            EndReason.KILLED: "the box was ended by the judge",
        }[self.reason]


# A supervisor's message: the wait status of its child.
STATUS_BYTES = 4


def child_exit_code(data: bytes) -> int | None:
    """Exit code of a supervisor's child, a negative number for a signal; None where the message is not whole."""
    whole = len(data) == STATUS_BYTES
    return os.waitstatus_to_exitcode(int.from_bytes(data, "little")) if whole else None


class Box(Protocol):
    """A started box. ``connection`` is a connected unix stream socket to its program (descriptors may be passed)."""

    id: str
    connection: socket.socket

    def end(self, wait_s: float = 0.0) -> BoxEnd | None:
        """How it ended, waiting at most ``wait_s`` seconds for it; None while it lives."""

    def kill(self) -> BoxEnd:
        """End it now and free everything it holds. Harmless when called again."""

    def cpu_seconds(self) -> float:
        """Processor time that all its processes have used since it started, as the host counts it: nothing in the box
        can change it. After its end, the last known value. Raises BoxUnavailable where it cannot be known."""

    def out_of_memory(self) -> bool:
        """Whether one of its processes was killed because the box had used all its memory."""

    def output(self) -> bytes:
        """What it printed so far (stdout and stderr together), cut to the limit. Takes it away: the next call
        returns only what came after."""


class Clocked(Protocol):
    """A box with a wall clock, as all that run submissions have."""

    def live_for(self, seconds: float) -> None:
        """Restart it: the box may live ``seconds`` from now."""


class Pausable(Protocol):
    """A box whose processes can be stopped for a while, as of all kinds that the judge keeps spares of."""

    def pause(self) -> None:
        """None of its processes runs until ``resume``. Raises BoxUnavailable where that cannot be."""

    def resume(self) -> None:
        """Raises BoxUnavailable, also where the box is over."""


class BoxMaker(Protocol):
    """A kind of box: docker, bubblewrap, local. ``about``: what it is made with on this host, for reports."""

    name: str
    about: str

    def start(self, spec: BoxSpec) -> Box:
        """Start a box and wait for its connection (not for its hello).

        Raises BoxUnavailable when the engine, the image or the machine cannot make one.
        """

    def reap(self) -> int:
        """Kill boxes whose parent is gone; returns how many."""


class BoundedOutput:
    """What a box printed: written by one thread, read by any. Keeps at most ``limit`` bytes in all and counts the rest,
    so that a flood is noticed."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._seen = 0
        self._lock = threading.Lock()

    @property
    def flooded(self) -> bool:
        """Whether more was printed than may be."""
        return self._seen > self._limit

    def add(self, data: bytes) -> bool:
        """Keep what fits. False when the limit is passed: the writer should be ended."""
        with self._lock:
            room = max(0, self._limit - self._seen)
            self._kept += data[:room]
            self._seen += len(data)
            return self._seen <= self._limit

    def take(self) -> bytes:
        """What came since the last call."""
        with self._lock:
            taken = bytes(self._kept)
            self._kept.clear()
            return taken
