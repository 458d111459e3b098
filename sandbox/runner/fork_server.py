"""Forks a runner for each staff source of a catalogue, with imports done once.

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
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import protocol
from connect import connect
from main import Prepare, Runner
from preload import preload

_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Child:
    pid: int
    status: int
    folder: str


def prepare(wanted: str) -> Prepare:
    """What a fork inherits, so no CUDA context. Returns the child's part."""
    if wanted == "triton-gpu":
        importlib.import_module("triton.language")  # imports torch too

        return lambda before_gpu: preload(wanted, before_gpu)
    made = preload(wanted)
    return lambda _: made


class ForkServer:
    """Answers ``{"op": "fork"}`` (connection, output, status descriptors) by ``{"pid": ...}``."""

    def __init__(self, address: str) -> None:
        self.connection = connect(address)
        self._prepare = prepare(os.environ.get("GRADER_PRELOAD", ""))
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

    def _run(self, connection: int, output: int, folder: str) -> None:
        code = 1
        try:
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            self.connection.close()
            for child in self._children.values():
                os.close(child.status)
            os.dup2(output, 1)
            os.dup2(output, 2)
            os.close(output)
            os.environ["TMPDIR"] = os.environ["HOME"] = folder
            os.chdir(folder)
            Runner(f"fd:{connection}", self._prepare).serve()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            with contextlib.suppress(Exception):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(code)

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
