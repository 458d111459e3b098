"""The interface of every kind of box: a process that cannot harm the host, and one socket to talk to it.

A box serves one submission (or control, baseline or compilation) and is then killed. The parent may kill it at any
moment, from any thread, more than once.
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
    """See the runner's ``protocol.py``."""
    body = json.dumps(message).encode()
    return len(body).to_bytes(4, "little") + body


# A box with a GPU announces that its imports are done, and waits for permission to use the GPU.
IMPORTED, USE_GPU = _framed({"op": "imported"}), _framed({"op": "use_gpu"})


class BoxPurpose(StrEnum):
    RUN = "run"
    COMPILE = "compile"
    CONTROL = "control"
    BASELINE = "baseline"
    CHECK = "check"


@dataclass(frozen=True)
class BoxSpec:
    purpose: BoxPurpose
    #: A file of ``sandbox/runner``.
    program: str = RUNNER_PROGRAM
    env: Mapping[str, str] = field(default_factory=dict)
    memory_bytes: int = limits.BOX_MEMORY_BYTES
    tmp_bytes: int = limits.BOX_TMP_BYTES
    pids: int = limits.BOX_PIDS
    cpus: float = limits.BOX_CPUS
    output_bytes: int = limits.OUTPUT_BYTES
    start_seconds: float = limits.BOX_START_SECONDS
    wall_seconds: float = limits.BOX_WALL_SECONDS
    #: CUDA needs ``limits.GPU_BOX_MEMORY_BYTES`` of host memory.
    gpu: Gpu | None = None
    #: Priority on a processor that others want too.
    share: Share = Share.FULL
    #: Empty: any.
    cores: tuple[int, ...] = ()
    #: The box sees the host's libraries of ready-made kernels, such as cuBLAS. A local box always does.
    compute_libraries: bool = True
    #: A tool and its options, which start the program: see ``runner/under_tool.py``.
    under: tuple[str, ...] = ()
    #: Of those, the ones that it sees all the same: keys of ``grader.sandbox.compute_libraries.LINKED``.
    shown_libraries: tuple[str, ...] = ()
    #: A folder of the host, see ``grader.sandbox.bytecode``.
    bytecode: str = ""

    @property
    def loopback(self) -> bool:
        """It needs sockets of its own network, which has nothing but a loopback: NCCL's threads meet there."""
        return bool(self.shown_libraries)

    @property
    def shm_bytes(self) -> int:
        """Of a /dev/shm of its own: NCCL's threads share memory there, and without one it divides by zero."""
        return limits.BOX_SHM_BYTES if self.shown_libraries else 0

    @property
    def supervised(self) -> bool:
        """The program loads submissions, and so runs under a supervisor (``runner/supervise.py``)."""
        return self.program == RUNNER_PROGRAM


class EndReason(StrEnum):
    """Why a box ended. The first reason counts."""

    EXITED = "exited"
    SIGNALLED = "signalled"
    OUT_OF_MEMORY = "out_of_memory"
    OUTPUT_FLOOD = "output_flood"
    WALL_CLOCK = "wall_clock"
    KILLED = "killed"


@dataclass(frozen=True)
class BoxEnd:
    reason: EndReason
    exit_code: int | None = None
    signal: int | None = None
    #: Something outside the box killed it. True only if nothing inside can have done so.
    outside: bool = False

    @classmethod
    def of_code(cls, code: int, memory_kills: int = 0, at_limit: bool = True) -> BoxEnd:
        """The end of a process. ``code``: as in ``subprocess``, negative for a signal. ``memory_kills``: processes
        killed for lack of memory; not ``at_limit``: the host's."""
        if code >= 0:
            return cls(EndReason.EXITED, exit_code=code)
        if -code == signals.SIGKILL and memory_kills:
            return cls(EndReason.OUT_OF_MEMORY) if at_limit else cls(EndReason.KILLED, outside=True)
        return cls(EndReason.SIGNALLED, signal=-code)

    def of_supervisor(self) -> BoxEnd:
        """The same end, of a supervisor, which nothing inside the box can end."""
        # Signals of operators, service managers and kernels. (Not every system has both names.)
        killed = self.reason is EndReason.KILLED or (
            self.reason is EndReason.SIGNALLED and self.signal in (signals.SIGKILL, signals.SIGTERM)
        )
        return replace(self, outside=killed)

    def sentence(self) -> str:
        """Describes the end to a student."""
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
    """Reads a supervisor's message: negative for a signal, None if it is incomplete."""
    whole = len(data) == STATUS_BYTES
    return os.waitstatus_to_exitcode(int.from_bytes(data, "little")) if whole else None


class Box(Protocol):
    """A started box."""

    id: str
    #: A unix stream socket to the program, which may pass descriptors.
    connection: socket.socket

    def end(self, wait_s: float = 0.0) -> BoxEnd | None:
        """How it ended, after at most ``wait_s`` seconds of waiting; None while it lives."""

    def kill(self) -> BoxEnd:
        """Free everything. Harmless if called again."""

    def cpu_seconds(self) -> float:
        """Processor seconds of all processes, by the host's count, which nothing in the box can change; after the
        end, the last value. Raises BoxUnavailable if unknown."""

    def out_of_memory(self) -> bool:
        """One of its processes was killed because the box had used all its memory."""

    def output(self) -> bytes:
        """Takes stdout and stderr since the last call, cut to the limit."""


class Clocked(Protocol):
    """A box with a wall clock: every box for submissions."""

    def live_for(self, seconds: float) -> None:
        """Restart the wall clock."""


class Pausable(Protocol):
    """A box that can be stopped for a while: every kind that the judge keeps spares of."""

    def pause(self) -> None:
        """Stop all processes until ``resume``. Raises BoxUnavailable if that fails."""

    def resume(self) -> None:
        """Raises BoxUnavailable, also if the box has ended."""


class BoxMaker(Protocol):
    """A kind of box: docker, bubblewrap, local."""

    name: str
    #: Mechanisms of its boxes on this host, for reports.
    about: str

    def start(self, spec: BoxSpec) -> Box:
        """Start a box and wait for its connection, not for its hello. Raises BoxUnavailable if the engine, the image or
        the machine cannot make one."""

    def reap(self) -> int:
        """Kill boxes whose parent is gone. Returns their number."""


class BoundedOutput:
    """A box's output, written by one thread and read by any. Counts what exceeds ``limit`` bytes, to notice a flood."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._seen = 0
        self._lock = threading.Lock()

    @property
    def flooded(self) -> bool:
        return self._seen > self._limit

    def add(self, data: bytes) -> bool:
        """False past the limit: end the writer."""
        with self._lock:
            room = max(0, self._limit - self._seen)
            self._kept += data[:room]
            self._seen += len(data)
            return self._seen <= self._limit

    def take(self) -> bytes:
        with self._lock:
            taken = bytes(self._kept)
            self._kept.clear()
            return taken
