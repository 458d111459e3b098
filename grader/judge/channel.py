"""The judge's end of the connection to a box: bounded messages, a deadline on every wait."""

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
# The runner reads as soon as it runs, so a send that takes longer than this goes to a box that has stopped reading.
_SEND_SECONDS = 60.0
# How soon a wait notices that its answer is no longer wanted.
_INTERRUPT_SECONDS = 0.25
# A wait that ends so much later than it was to end did so because this process stood still (a machine that was paused,
# or swapped), and most likely the box as well. That is no time that the box has taken.
_STALL_SECONDS = 0.5

M = TypeVar("M", bound=Message)
# A time of ``time.perf_counter``, or what a box may use meanwhile.
Deadline = float | Allowance


class ChannelError(Exception):
    """Base: the box did not say what it should have said."""


class BoxGone(ChannelError):
    """The connection ended."""


class BoxSilent(ChannelError):
    """Nothing came before the deadline; ``allowance``: what the box had used by then, where that was the deadline."""

    def __init__(self, text: str, allowance: Allowance | None = None) -> None:
        super().__init__(text)
        self.allowance = allowance


class StillCompiling(BoxSilent):
    """The same while it compiled a kernel, as it said: ``kernel``, for more than ``seconds``."""

    def __init__(self, kernel: str, seconds: float) -> None:
        super().__init__("still compiling")
        self.kernel, self.seconds = kernel, seconds


class BoxLied(ChannelError):
    """What came is no message of the protocol, or not the one that was due."""


class Channel:
    """Framed JSON on a unix stream socket. Descriptors may be sent, never received."""

    def __init__(self, connection: socket.socket, interrupt: Callable[[], None] = lambda: None) -> None:
        """``interrupt`` is called while waiting; it ends the wait by raising."""
        self.interrupt = interrupt
        self._connection = connection
        self._connection.settimeout(_SEND_SECONDS)
        self._pending = bytearray()
        self._lied = False

    def ask(self) -> None:
        """Raises where the answer is no longer wanted."""
        self.interrupt()

    def send(self, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        """Send one message. Raises BoxGone where the box no longer listens."""
        body = json.dumps(message).encode()
        frame = _LENGTH.pack(len(body)) + body
        try:
            sent = socket.send_fds(self._connection, [frame], list(descriptors))
            self._connection.sendall(frame[sent:])
        except OSError as error:
            raise BoxGone(str(error)) from error

    def expect(self, kind: type[M], deadline: Deadline) -> M:
        """The next message, which must be of ``kind``.

        Raises BoxGone, BoxSilent, BoxLied. The first invalid message closes the connection: nothing is read after it.
        """
        if self._lied:
            raise BoxLied("it broke the protocol before")
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
            raise BoxLied(f"{type(message).__name__.lower()} came where {kind.__name__.lower()} was due")
        return message

    def gone(self) -> bool:
        """Whether the other end has closed, also where unread bytes come before its end (cheap; consumes nothing)."""
        try:
            return bool(self._events(select.POLLRDHUP, 0.0))
        except BoxGone:
            return True

    def _events(self, wanted: int, seconds: float) -> int:
        """What happens on the connection within ``seconds``: bits of ``select.poll``, 0 for nothing."""
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
        """Read until ``size`` bytes are there. What has come by the deadline counts even if it is read later, but a
        box that drips gets no more time than one that is silent, and delays no other message meanwhile. What this
        process stood still is not counted."""
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
            # Without room for descriptors: the kernel closes those that a box sends.
            data = self._connection.recv(most)
        except OSError as error:
            raise BoxGone(str(error)) from error
        if not data:
            raise BoxGone("the connection ended")
        self._pending += data
