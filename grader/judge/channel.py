"""The judge's end of the connection to a box: bounded messages, deadlines for all waits."""

from __future__ import annotations

import json
import select
import socket
import struct
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from grader import limits
from grader.judge.messages import ADAPTER, Message
from grader.sandbox.allowance import Allowance

_LENGTH = struct.Struct("<I")
# A send that takes longer goes to a box that no longer reads.
_SEND_SECONDS = 60.0
_INTERRUPT_SECONDS = 0.25
# A wait this much too long means that this process was stopped (a paused or swapping machine). The box is not charged.
_STALL_SECONDS = 0.5

M = TypeVar("M", bound=Message)
# A time of ``time.perf_counter``, or an allowance of the box.
Deadline = float | Allowance


class ChannelError(Exception):
    """The box did not send the expected message."""


class BoxGone(ChannelError):
    """The connection ended."""


class BoxSilent(ChannelError):
    """Nothing came before the deadline, or before ``allowance`` ran out."""

    def __init__(self, text: str, allowance: Allowance | None = None) -> None:
        super().__init__(text)
        self.allowance = allowance


class StillCompiling(BoxSilent):
    """The box said that it compiled ``kernel``, for more than ``seconds``."""

    def __init__(self, kernel: str, seconds: float) -> None:
        super().__init__("still compiling")
        self.kernel, self.seconds = kernel, seconds


class BoxLied(ChannelError):
    """An invalid or unexpected message."""


class Channel:
    """Framed JSON on a unix socket. Never receives descriptors."""

    def __init__(self, connection: socket.socket, interrupt: Callable[[], None] = lambda: None) -> None:
        """``interrupt`` raises to end a wait."""
        self.interrupt = interrupt
        self._connection = connection
        self._connection.settimeout(_SEND_SECONDS)
        self._pending = bytearray()
        self._lied = False

    def ask(self) -> None:
        self.interrupt()

    def send(self, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        body = json.dumps(message).encode()
        frame = _LENGTH.pack(len(body)) + body
        try:
            sent = socket.send_fds(self._connection, [frame], list(descriptors))
            self._connection.sendall(frame[sent:])
        except OSError as error:
            raise BoxGone(str(error)) from error

    def expect(self, kind: type[M], deadline: Deadline) -> M:
        """Raises BoxGone, BoxSilent, BoxLied. Nothing is read after the first invalid message."""
        if self._lied:
            raise BoxLied("it has already broken the protocol")
        try:
            return self._message(kind, deadline)
        except BoxLied:
            self._lied = True
            raise

    def _message(self, kind: type[M], deadline: Deadline) -> M:
        body = self._frame(deadline)
        try:
            message = ADAPTER.validate_json(body)
        except ValidationError as error:
            raise BoxLied(f"not a message: {len(body)} bytes") from error
        if not isinstance(message, kind):
            raise BoxLied(f"{type(message).__name__.lower()} came instead of {kind.__name__.lower()}")
        return message

    def gone(self) -> bool:
        """True even with unread bytes. Consumes nothing."""
        try:
            return bool(self._events(select.POLLRDHUP, 0.0))
        except BoxGone:
            return True

    def _events(self, wanted: int, seconds: float) -> int:
        poll = select.poll()
        try:
            poll.register(self._connection, wanted)
        except ValueError as error:
            raise BoxGone("the connection is closed") from error
        found = poll.poll(seconds * 1000)
        return found[0][1] if found else 0

    def _frame(self, deadline: Deadline) -> bytes:
        self._fill(_LENGTH.size, deadline)
        (length,) = _LENGTH.unpack_from(self._pending)
        if length > limits.MESSAGE_BYTES:
            raise BoxLied(f"a message of {length} bytes; at most {limits.MESSAGE_BYTES} are read")
        self._fill(_LENGTH.size + length, deadline)
        body = bytes(self._pending[_LENGTH.size : _LENGTH.size + length])
        del self._pending[: _LENGTH.size + length]
        return body

    def _fill(self, size: int, deadline: Deadline) -> None:
        """Bytes that came by the deadline count even if read later; a box that drips gets no more time than a silent
        one."""
        asked = time.perf_counter()
        while len(self._pending) < size:
            now = time.perf_counter()
            if now - asked >= _INTERRUPT_SECONDS:
                self.interrupt()
                asked = now
            left = deadline.left() if isinstance(deadline, Allowance) else max(deadline - now, 0.0)
            began, wait = time.perf_counter(), min(left, _INTERRUPT_SECONDS)
            if self._events(select.POLLIN, wait):
                self._read(size - len(self._pending))
            elif (stood := time.perf_counter() - began - wait) > _STALL_SECONDS:
                if isinstance(deadline, Allowance):
                    deadline.forgive(stood)
                else:
                    deadline += stood
                continue
            if left == 0.0 and len(self._pending) < size:
                self.interrupt()
                raise BoxSilent("no answer in time", deadline if isinstance(deadline, Allowance) else None)

    def _read(self, most: int) -> None:
        try:
            # No room for descriptors: the kernel closes those that a box sends.
            data = self._connection.recv(most)
        except OSError as error:
            raise BoxGone(str(error)) from error
        if not data:
            raise BoxGone("the connection ended")
        self._pending += data
