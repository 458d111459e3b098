"""The interface of every box: a process that cannot harm the host, and one socket to it.

The parent may kill it at any time, from any thread, repeatedly.
"""

from __future__ import annotations

import json
import os
import select
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
    body = json.dumps(message).encode()
    return len(body).to_bytes(4, "little") + body


def readable(seconds: float, *ends: int | socket.socket) -> bool:
    """Any of ``ends``, within ``seconds``. ``select.select`` refuses descriptors above 1,023."""
    poll = select.poll()
    for end in ends:
        poll.register(end, select.POLLIN)
    return bool(poll.poll(max(0.0, seconds) * 1000))


# A box with a GPU says that its imports are done, and waits for permission to use it.
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
    #: In ``sandbox/runner``.
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
    share: Share = Share.FULL
    cores: tuple[int, ...] = ()
    #: Show the host's ready-made kernels, such as cuBLAS. A local box always does.
    compute_libraries: bool = True
    #: Starts the program: see ``runner/under_tool.py``.
    under: tuple[str, ...] = ()
    #: Hidden libraries that it sees all the same: keys of ``compute_libraries.LINKED``.
    shown_libraries: tuple[str, ...] = ()
    #: See ``bytecode``.
    bytecode: str = ""

    @property
    def loopback(self) -> bool:
        """For NCCL."""
        return bool(self.shown_libraries)

    @property
    def shm_bytes(self) -> int:
        """NCCL's threads share memory in /dev/shm; without it NCCL divides by zero."""
        return limits.BOX_SHM_BYTES if self.shown_libraries else 0

    @property
    def supervised(self) -> bool:
        """The program loads submissions (see ``runner/supervise.py``)."""
        return self.program == RUNNER_PROGRAM


class EndReason(StrEnum):
    """The first reason counts."""

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
    #: Killed from outside. True only if nothing inside can have done so.
    outside: bool = False

    @classmethod
    def of_code(cls, code: int, memory_kills: int = 0, at_limit: bool = True) -> BoxEnd:
        """``code``: as in ``subprocess``. ``at_limit``: memory kills were due to the box's limit, not the
        host's.
        """
        if code >= 0:
            return cls(EndReason.EXITED, exit_code=code)
        if -code == signals.SIGKILL and memory_kills:
            return cls(EndReason.OUT_OF_MEMORY) if at_limit else cls(EndReason.KILLED, outside=True)
        return cls(EndReason.SIGNALLED, signal=-code)

    def of_supervisor(self) -> BoxEnd:
        """Nothing inside the box can cause it."""
        # Operators, service managers and kernels send these. Not every system has both names.
        killed = self.reason is EndReason.KILLED or (
            self.reason is EndReason.SIGNALLED and self.signal in (signals.SIGKILL, signals.SIGTERM)
        )
        return replace(self, outside=killed)

    def sentence(self) -> str:
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


STATUS_BYTES = 4


def child_exit_code(data: bytes) -> int | None:
    """Negative for a signal, None if the message is incomplete."""
    whole = len(data) == STATUS_BYTES
    return os.waitstatus_to_exitcode(int.from_bytes(data, "little")) if whole else None


class Box(Protocol):
    id: str
    #: May pass descriptors.
    connection: socket.socket

    def end(self, wait_s: float = 0.0) -> BoxEnd | None:
        """None while it lives, after at most ``wait_s`` seconds."""

    def kill(self) -> BoxEnd:
        """Free everything. May be called again."""

    def cpu_seconds(self) -> float:
        """Processor seconds of all its processes, by the host's count; after the end, the last value. Raises
        BoxUnavailable if unknown.
        """

    def out_of_memory(self) -> bool:
        """The kernel killed one of its processes at the box's memory limit."""

    def output(self) -> bytes:
        """Stdout and stderr since the last call, cut to the limit."""


class Clocked(Protocol):
    def live_for(self, seconds: float) -> None:
        """Restart the wall clock."""


class Pausable(Protocol):
    """A box that the judge can keep as a spare."""

    def pause(self) -> None:
        """Raises BoxUnavailable if that fails."""

    def resume(self) -> None:
        """Raises BoxUnavailable, also if the box has ended."""


class BoxMaker(Protocol):
    name: str
    about: str

    def start(self, spec: BoxSpec) -> Box:
        """Wait for its connection, not for its hello. Raises BoxUnavailable."""

    def reap(self) -> int:
        """Kill boxes whose parent is gone; returns their number."""


class BoundedOutput:
    """One thread writes, any thread reads. Counts what exceeds ``limit`` bytes, to notice a flood."""

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
