"""Boxes forked from a process that has imported torch and Triton: milliseconds instead of seconds.

Only for staff code in `grader challenge check`: a fork shares its parent's memory and address layout. See
``runner/fork_server.py``.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import struct
import threading
import uuid
from dataclasses import replace

from grader import limits
from grader.errors import BoxUnavailable
from grader.sandbox.box import (
    RUNNER_PROGRAM,
    STATUS_BYTES,
    Box,
    BoxEnd,
    BoxSpec,
    EndReason,
    child_exit_code,
    readable,
)
from grader.sandbox.local_box import LocalBox, LocalBoxes
from grader.sandbox.processes import cpu_seconds, descendants

_LENGTH = struct.Struct("<I")
# Added to a child's limit, for the imports.
_SERVER_BYTES = 2 * limits.GIB
# An abandoned server ends with its connection.
_SERVER_SECONDS = 24 * 3600.0
# A fork takes milliseconds.
_FORK_SECONDS = 30.0
# Kinds that a fork speeds up. A runner for CUDA libraries imports nothing, and a context cannot be inherited.
_FORKED = ("triton", "triton-gpu", "torch", "emulated", "emulated-triton")


class ForkedBox:
    """Without a wall clock."""

    def __init__(self, pid: int, connection: socket.socket, output: int, status: int) -> None:
        self.id = f"forked-{uuid.uuid4().hex[:12]}"
        self.connection = connection
        self._pid = pid
        self._output, self._read = output, 0
        self._status = status
        self._end: BoxEnd | None = None
        self._killed = False
        self._cpu_used = 0.0
        self._lock = threading.Lock()

    def end(self, wait_s: float = 0.0) -> BoxEnd | None:
        with self._lock:
            if self._end is None and readable(wait_s, self._status):
                self._end = self._take_status()
            return self._end

    def _take_status(self) -> BoxEnd:
        data = os.read(self._status, STATUS_BYTES)
        code = child_exit_code(data)
        if code is None:  # the server is gone, and its children with it
            return BoxEnd(EndReason.KILLED, outside=not self._killed)
        if code < 0 and self._killed:
            return BoxEnd(EndReason.KILLED)
        return BoxEnd.of_code(code)

    def kill(self) -> BoxEnd:
        if self.end() is None:
            self._killed = True
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._pid, signal.SIGKILL)
        end = self.end(wait_s=_FORK_SECONDS) or BoxEnd(EndReason.KILLED)
        with self._lock:
            self._end = end
            if self._output >= 0:
                self.connection.close()
                os.close(self._output)
                os.close(self._status)
                self._output = -1
        return end

    def cpu_seconds(self) -> float:
        with self._lock:
            if self._end is None:
                self._cpu_used = max(self._cpu_used, sum(map(cpu_seconds, descendants(self._pid))))
            return self._cpu_used

    def live_for(self, seconds: float) -> None:
        """It has no clock."""

    def out_of_memory(self) -> bool:
        return False  # its memory is not watched

    def output(self) -> bytes:
        if self._output < 0:
            return b""
        data = os.pread(self._output, limits.OUTPUT_BYTES, self._read)
        self._read += len(data)
        return data


class _Server:
    def __init__(self, spec: BoxSpec) -> None:
        self.spec = spec
        self._box = LocalBox(
            replace(
                spec,
                program="fork_server.py",
                memory_bytes=spec.memory_bytes + _SERVER_BYTES,
                wall_seconds=_SERVER_SECONDS,
            )
        )
        self._connection = self._box.connection
        self._connection.settimeout(limits.BOX_START_PATIENCE * limits.BOX_START_SECONDS)
        self._receive()

    def alive(self) -> bool:
        return self._box.end() is None

    def fork(self) -> ForkedBox:
        """A runner before its hello. Raises BoxUnavailable."""
        ours, theirs = socket.socketpair()
        output = os.memfd_create("forked-output", os.MFD_CLOEXEC)
        reading, writing = os.pipe()
        try:
            self._connection.settimeout(_FORK_SECONDS)
            self._send({"op": "fork"}, [theirs.fileno(), output, writing])
            pid = int(self._receive()["pid"])
        except BaseException:
            ours.close()
            os.close(output)
            os.close(reading)
            raise
        finally:
            theirs.close()
            os.close(writing)
        return ForkedBox(pid, ours, output, reading)

    def close(self) -> None:
        self._box.kill()

    def _send(self, message: dict[str, str], descriptors: list[int]) -> None:
        body = json.dumps(message).encode()
        try:
            socket.send_fds(self._connection, [_LENGTH.pack(len(body)) + body], descriptors)
        except OSError as error:
            raise self._failed() from error

    def _receive(self) -> dict[str, int]:
        try:
            (length,) = _LENGTH.unpack(self._exactly(_LENGTH.size))
            answer: dict[str, int] = json.loads(self._exactly(length))
        except (OSError, EOFError) as error:
            raise self._failed() from error
        return answer

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            some = self._connection.recv(size - len(data))
            if not some:
                raise EOFError
            data += some
        return data

    def _failed(self) -> BoxUnavailable:
        said = self._box.output().decode("utf-8", "replace")[-2000:]
        return BoxUnavailable(f"the process that forks runners failed: {said or 'it does not answer'}")


class ForkedBoxes:
    """One server for each kind of runner; other programs get a local box. Not thread-safe."""

    name = "forked"
    about = "forked: a plain process, forked from one that has torch"

    def __init__(self) -> None:
        self._local = LocalBoxes()
        self._servers: list[_Server] = []

    def start(self, spec: BoxSpec) -> Box:
        preload = spec.env.get("GRADER_PRELOAD")
        if spec.program != RUNNER_PROGRAM or spec.under or preload not in _FORKED:
            return self._local.start(spec)
        return self._server(spec).fork()

    def _server(self, spec: BoxSpec) -> _Server:
        for server in [server for server in self._servers if server.spec == spec]:
            if server.alive():
                return server
            server.close()
            self._servers.remove(server)
        self._servers.append(_Server(spec))
        return self._servers[-1]

    def reap(self) -> int:
        return self._local.reap()

    def close(self) -> None:
        while self._servers:
            self._servers.pop().close()
