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

_LENGTH = struct.Struct("<I")
# The runner reads at once, so a send that takes longer than this goes to a box that has stopped reading.
_SEND_SECONDS = 10.0
# How soon a wait notices that nobody wants its answer any more.
_INTERRUPT_SECONDS = 0.25

M = TypeVar("M", bound=Message)


class ChannelError(Exception):
    """Base: the box did not say what it should have said."""


class BoxGone(ChannelError):
    """The connection ended."""


class BoxSilent(ChannelError):
    """Nothing came before the deadline."""


class BoxLied(ChannelError):
    """What came is no message of the protocol, or not the one that was due."""


class Channel:
    """Framed JSON on a unix stream socket. Descriptors may be sent, never received."""

    def __init__(self, connection: socket.socket, interrupt: Callable[[], None] = lambda: None) -> None:
        """``interrupt`` is called while waiting; it ends the wait by raising."""
        self._interrupt = interrupt
        self._connection = connection
        self._connection.settimeout(_SEND_SECONDS)
        self._pending = bytearray()

    def send(self, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        """Send one message. Raises BoxGone where the box no longer listens."""
        body = json.dumps(message).encode()
        frame = _LENGTH.pack(len(body)) + body
        try:
            sent = socket.send_fds(self._connection, [frame], list(descriptors))
            self._connection.sendall(frame[sent:])
        except OSError as error:
            raise BoxGone(str(error)) from error

    def expect(self, kind: type[M], deadline: float) -> M:
        """The next message, which must be of ``kind``; ``deadline`` in seconds of ``time.perf_counter``.

        Raises BoxGone, BoxSilent, BoxLied.
        """
        body = self._frame(deadline)
        try:
            message = ADAPTER.validate_json(body)
        except ValidationError as error:
            raise BoxLied(f"not a message: {len(body)} bytes") from error
        if not isinstance(message, kind):
            raise BoxLied(f"{type(message).__name__.lower()} came where {kind.__name__.lower()} was due")
        return message

    def gone(self) -> bool:
        """Whether the other end has closed (cheap; swallows nothing)."""
        # A socket with a timeout waits that long even for a call that asks not to wait, so it is asked only when it has
        # something to say.
        readable, _, _ = select.select([self._connection], [], [], 0)
        if not readable:
            return False
        try:
            return self._connection.recv(1, socket.MSG_PEEK) == b""
        except OSError:
            return True

    def _frame(self, deadline: float) -> bytes:
        self._fill(_LENGTH.size, deadline)
        (length,) = _LENGTH.unpack_from(self._pending)
        if length > limits.MESSAGE_BYTES:
            raise BoxLied(f"a message of {length} bytes; at most {limits.MESSAGE_BYTES} are read")
        self._fill(_LENGTH.size + length, deadline)
        body = bytes(self._pending[_LENGTH.size : _LENGTH.size + length])
        del self._pending[: _LENGTH.size + length]
        return body

    def _fill(self, size: int, deadline: float) -> None:
        while len(self._pending) < size:
            left = deadline - time.perf_counter()
            readable, _, _ = select.select([self._connection], [], [], min(max(left, 0), _INTERRUPT_SECONDS))
            if not readable:
                self._interrupt()
                if left <= _INTERRUPT_SECONDS:
                    raise BoxSilent("no answer in time")
                continue
            try:
                data = self._connection.recv(size - len(self._pending))
            except OSError as error:
                raise BoxGone(str(error)) from error
            if not data:
                raise BoxGone("the connection ended")
            self._pending += data
