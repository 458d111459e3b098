"""Forks a runner for each source of a catalogue's staff: their common imports are done once. A runner for the emulated
GPU in Triton comes with its GPU (``emulated_relay.py``), another fork.

For trusted code only (`grader challenge check`): a fork shares its parent's address layout and memory.

Usage: python -I fork_server.py ADDRESS. Environment: GRADER_PRELOAD, see ``preload.py``.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

sys.path.insert(0, str(Path(__file__).resolve().parent))

import protocol
from connect import connect
from main import Runner
from preload import FORKABLE, RELAYED, preload

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4
# What a runner with Triton's compiler imports until its first kernel is compiled.
_COMPILER = (
    "torch",
    "triton.language",
    "triton.compiler.code_generator",
    "triton.backends.nvidia.compiler",
    "triton.experimental.gluon.nvidia.hopper",
)


@dataclass(frozen=True)
class Child:
    pid: int
    status: int
    folder: str


def prepare(wanted: str) -> Callable[[str], None]:
    """Prepare whatever a fork can inherit (no CUDA context, no folder). Returns what a fork does with its address."""
    if wanted in RELAYED:
        client, programs = RELAYED[wanted]
        os.environ.pop("TRITON_INTERPRET", None)
        _import(_COMPILER)
        import emulated_triton  # noqa: F401 - for the runner
        from emulated_relay import Relay

        return lambda address: Relay(address, client, programs=programs, start=fork_runner).serve()
    if wanted in FORKABLE:
        made = preload(wanted)
        return lambda address: Runner(address, lambda _: made).serve()
    _import(("torch",) if wanted == "torch" else _COMPILER)
    return lambda address: Runner(address, lambda before_gpu: preload(wanted, before_gpu)).serve()


def _import(names: Sequence[str]) -> None:
    for name in names:
        with contextlib.suppress(ImportError):  # another Triton; what a runner lacks, it says itself
            importlib.import_module(name)


class ForkedRunner:
    """See ``emulated_relay.RunnerProcess``."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._pidfd = os.pidfd_open(pid)

    def wait(self, timeout: float | None = None) -> int:
        readable, _, _ = select.select([self._pidfd], [], [], timeout)
        if not readable:
            raise subprocess.TimeoutExpired("runner", timeout or 0.0)
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])

    def kill(self) -> None:
        os.kill(self._pid, signal.SIGKILL)


def fork_runner(
    wanted: str, connection: socket.socket, gpu: socket.socket, ours: Sequence[socket.socket]
) -> ForkedRunner:
    """See ``emulated_relay.StartRunner``."""
    pid = os.fork()
    if pid == 0:
        become(lambda: _run_beside(wanted, connection, gpu, ours))
    return ForkedRunner(pid)


def _run_beside(
    wanted: str, connection: socket.socket, gpu: socket.socket, ours: Sequence[socket.socket]
) -> None:
    for end in ours:
        end.close()
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)  # the relay hides, a runner does not
    os.environ["GRADER_PRELOAD"], os.environ["GRADER_GPU"] = wanted, str(gpu.detach())
    Runner(f"fd:{connection.detach()}").serve()


def become(program: Callable[[], None]) -> NoReturn:
    """In a fork: run ``program`` and end, with the parent at the latest."""
    code = 1
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        program()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


class ForkServer:
    """Answers ``{"op": "fork"}`` (connection, output, status descriptors) by ``{"pid": ...}``."""

    def __init__(self, address: str) -> None:
        self.connection = connect(address)
        self._program = prepare(os.environ.get("GRADER_PRELOAD", ""))
        self._home = os.environ.get("TMPDIR", "/tmp")  # noqa: S108 - the box's own
        self._children: dict[int, Child] = {}
        self._number = 0
        self._poll = select.poll()

    def serve(self) -> None:
        """Until the parent closes the connection, which also ends remaining children."""
        self._poll.register(self.connection, select.POLLIN)
        protocol.send(self.connection, {"op": "ready"})
        while True:
            for descriptor, _ in self._poll.poll():
                if descriptor in self._children:
                    self._bury(descriptor)
                    continue
                try:
                    _, descriptors = protocol.receive(self.connection)
                except EOFError:
                    return
                self._fork(descriptors)

    def _fork(self, descriptors: list[int]) -> None:
        connection, output, status = descriptors
        self._number += 1
        folder = os.path.join(self._home, f"runner-{self._number}")
        os.mkdir(folder)
        pid = os.fork()
        if pid == 0:
            os.close(status)
            self._run(connection, output, folder)
        os.setpgid(pid, pid)  # before the parent has the number and may kill the group
        os.close(connection)
        os.close(output)
        pidfd = os.pidfd_open(pid)
        self._children[pidfd] = Child(pid, status, folder)
        self._poll.register(pidfd, select.POLLIN)
        protocol.send(self.connection, {"pid": pid})

    def _run(self, connection: int, output: int, folder: str) -> NoReturn:
        """In the child: become a runner."""

        def run() -> None:
            os.setpgid(0, 0)  # before its own children exist
            self.connection.close()
            for child in self._children.values():
                os.close(child.status)
            os.dup2(output, 1)
            os.dup2(output, 2)
            os.close(output)
            os.environ["TMPDIR"] = os.environ["HOME"] = folder
            os.chdir(folder)
            self._program(f"fd:{connection}")

        become(run)

    def _bury(self, pidfd: int) -> None:
        """Reports a child's end and removes its folder."""
        self._poll.unregister(pidfd)
        os.close(pidfd)
        child = self._children.pop(pidfd)
        _, status = os.waitpid(child.pid, 0)
        with contextlib.suppress(OSError):
            os.write(child.status, status.to_bytes(4, "little"))
        os.close(child.status)
        shutil.rmtree(child.folder, ignore_errors=True)


if __name__ == "__main__":
    ForkServer(sys.argv[1]).serve()
