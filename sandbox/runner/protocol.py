"""Messages between judge and runner: 4 bytes of length (little endian), then JSON, maybe with descriptors."""

from __future__ import annotations

import array
import json
import os
import socket
import struct
from typing import Any

_LENGTH = struct.Struct("<I")
_MOST_DESCRIPTORS = 64


def send(connection: socket.socket, message: dict[str, Any]) -> None:
    # At most four bytes a character, instead of twelve.
    body = json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")
    connection.sendall(_LENGTH.pack(len(body)) + body)


def receive(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Raises EOFError if the judge is gone."""
    descriptors: list[int] = []
    (length,) = _LENGTH.unpack(_exactly(connection, _LENGTH.size, descriptors))
    return json.loads(_exactly(connection, length, descriptors)), descriptors


def _exactly(connection: socket.socket, size: int, descriptors: list[int]) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        data, ancillary, _, _ = connection.recvmsg(
            size - len(parts), socket.CMSG_SPACE(_MOST_DESCRIPTORS * array.array("i").itemsize)
        )
        for level, kind, payload in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                numbers = array.array("i")
                numbers.frombytes(payload[: len(payload) - len(payload) % numbers.itemsize])
                descriptors.extend(numbers)
        if not data:
            raise EOFError("the judge closed the connection")
        parts += data
    return bytes(parts)


def close_all(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
