"""A request to a compiler in a box, with a pipe for the artefact. Only form and size of artefact and answer
are trusted.
"""

from __future__ import annotations

import array
import json
import os
import select
import socket
from collections.abc import Callable, Mapping
from typing import Any

from grader import limits
from grader.errors import BoxUnavailable
from grader.sandbox.allowance import Allowance

# As JSON a character may become six.
ANSWER_BYTES = 16 * limits.COMPILE_LOG_BYTES
READ_BYTES = 1 * limits.MIB
# Asks whether the artefact is still wanted.
ASK_SECONDS = 0.25
BUSY = "The host may be short of memory or processors. The compilation is tried again."


class Conversation:
    """``interrupt`` raises if the result is unwanted."""

    def __init__(
        self, connection: socket.socket, allowance: Allowance, interrupt: Callable[[], None]
    ) -> None:
        self.library, self.answer = bytearray(), bytearray()
        self._connection = connection
        self._allowance = allowance
        self._interrupt = interrupt

    def run(self, request: Mapping[str, Any]) -> str:
        """Returns a fault for the student, or nothing. Raises OSError or EOFError if the box ends,
        BoxUnavailable if the host was too busy.
        """
        reading, writing = os.pipe()
        try:
            try:
                self._send(request, writing)
            finally:
                os.close(writing)
            return self._receive(reading)
        finally:
            os.close(reading)

    def _send(self, request: Mapping[str, Any], pipe: int) -> None:
        body = json.dumps(request).encode()
        data = len(body).to_bytes(4, "little") + body
        self._connection.settimeout(limits.COMPILE_SECONDS)
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [pipe]))]
        sent = self._connection.sendmsg([data], rights)
        self._connection.sendall(data[sent:])

    def _receive(self, pipe: int) -> str:
        self._connection.settimeout(None)
        poll = select.poll()
        poll.register(pipe, select.POLLIN)
        poll.register(self._connection, select.POLLIN)
        pipe_open = True
        while pipe_open or not self._answer_is_whole():
            self._interrupt()
            left = self._allowance.left()
            ready = poll.poll(min(left, ASK_SECONDS) * 1000)
            # Even with data: a box that drips is stopped like a silent one.
            if left == 0.0:
                return self._stopped()
            for descriptor, _ in ready:
                if descriptor != pipe:
                    self.answer += self._some()
                elif data := os.read(pipe, READ_BYTES):
                    self.library += data
                else:
                    poll.unregister(pipe)
                    pipe_open = False
            if len(self.library) > limits.ARTEFACT_BYTES:
                return f"[the compiled library is larger than {limits.ARTEFACT_BYTES} bytes]"
            if len(self.answer) > ANSWER_BYTES:
                return "[the compiler's box said more than it may]"
        return ""

    def _stopped(self) -> str:
        if self._allowance.starved:
            raise BoxUnavailable(f"the compiler did not finish within {self._allowance.sentence()}", BUSY)
        return f"[the compiler took longer than {self._allowance.seconds:g} seconds and was stopped]"

    def _some(self) -> bytes:
        data = self._connection.recv(64 * limits.KIB)
        if not data:
            raise EOFError
        return data

    def _answer_is_whole(self) -> bool:
        return len(self.answer) >= 4 and len(self.answer) - 4 >= int.from_bytes(self.answer[:4], "little")
