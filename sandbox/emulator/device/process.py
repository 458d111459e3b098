"""Runs a library's host code in its own process, which asks the device."""

from __future__ import annotations

import ctypes
import os
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path

from .. import HOST
from ..host_lines import HostLines
from ..names import MESSAGE
from .driver import Device
from .outcome import Returned
from .requests import HEADER, MOST_BYTES, MOST_SAID, REPLY, SAID


def hide() -> None:
    """Keep the user's other processes from reading or tracing this one."""
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE


class HostEnded(Exception):
    """``status``: as ``subprocess.Popen.returncode``."""

    def __init__(self, status: int | None) -> None:
        super().__init__(f"the host code's process ended with status {status}")
        self.status = status


class LoadFailed(Exception):
    """The text is the dynamic linker's."""


class HostProcess:
    def __init__(
        self,
        device: Device,
        library: str | os.PathLike[str] | int,
        host: Path = HOST,
        output: int | None = None,
    ) -> None:
        """``library``: a path or descriptor. ``output``: a descriptor (default: ours).

        Raises LoadFailed, HostEnded.
        """
        self.device = device
        self._connection, theirs = socket.socketpair()
        if isinstance(library, int):
            path, given = f"/proc/self/fd/{library}", [library]
        else:
            path, given = os.fspath(library), []
        self._library = path
        self._lines: HostLines | None = None
        device.line_at = self._line_at
        with theirs:
            self._process = subprocess.Popen(
                [str(host), str(theirs.fileno()), path, str(device.engine.gpus)],
                pass_fds=[theirs.fileno(), *given],
                stdin=subprocess.DEVNULL,
                stdout=output,
            )
        try:
            text = self._serve(MESSAGE.LOADED)
        except BaseException:
            self.close()
            raise
        if text:
            self.close()
            raise LoadFailed(text.decode("utf-8", "replace"))

    def _line_at(self, place: int) -> int:
        if place == 0:
            return 0
        if self._lines is None:
            try:
                self._lines = HostLines(Path(self._library).read_bytes())
            except OSError:
                self._lines = HostLines(b"")
        return self._lines.line_at(place)

    def close(self) -> None:
        self._connection.close()
        self._process.kill()
        self._process.wait()

    def call(self, values: Sequence[bytes], *, counted: bool = False, watched: bool = False) -> Returned:
        """``values``: C's arguments, at most 8 bytes each. Raises HostEnded."""
        self.device.begin(counted=counted, watched=watched)
        self._reply(0, b"".join(value.ljust(8, b"\0") for value in values))
        said = self._serve(MESSAGE.RETURNED)
        code, forgotten = SAID.unpack_from(said)
        name, _, text = said[SAID.size :].decode("ascii", "replace").partition(" ")
        return self.device.returned(code, name, text, forgotten)

    def _serve(self, last: int) -> bytes:
        """Until a request of kind ``last``, which the next call answers."""
        while True:
            kind, size = HEADER.unpack(self._exactly(HEADER.size))
            if size > MOST_BYTES:
                raise self._ended()
            body = self._exactly(size)
            if kind == last and (kind != MESSAGE.RETURNED or SAID.size <= size <= MOST_SAID):
                return body
            self._reply(*self.device.answer(kind, body))

    def _reply(self, status: int, body: bytes) -> None:
        try:
            self._connection.sendall(REPLY.pack(status, len(body)) + body)
        except OSError as error:
            raise self._ended() from error

    def _exactly(self, size: int) -> bytes:
        parts = bytearray(size)
        view, at = memoryview(parts), 0
        while at < size:
            try:
                some = self._connection.recv_into(view[at:])
            except OSError:
                some = 0
            if some == 0:
                raise self._ended()
            at += some
        return bytes(parts)

    def _ended(self) -> HostEnded:
        self._connection.close()
        self._process.kill()
        return HostEnded(self._process.wait())
