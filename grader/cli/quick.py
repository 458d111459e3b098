"""One anonymous GET over a plain socket, for the command that must start fastest.

Importing `http.client` takes four times as long as starting Python. An HTTP/1.0 answer ends with the
connection. Anything else (https, another status) gives None, and the full client explains it.
"""

from __future__ import annotations

import os
import socket

from grader.cli import login
from grader.errors import GraderError

SECONDS = 10.0
MAX_BYTES = 8 * 1024 * 1024


def get(path: str) -> str | None:
    try:
        if any(name.lower().endswith("_proxy") for name in os.environ):
            return None
        scheme, _, place = login.server().partition("://")
        host, _, port = place.partition(":")
        if scheme != "http" or not host or "/" in place or "[" in host:
            return None
        with socket.create_connection((host, int(port or 80)), timeout=SECONDS) as connection:
            connection.sendall(
                f"GET {path} HTTP/1.0\r\nHost: {place}\r\nAccept: application/json\r\n\r\n".encode("ascii")
            )
            head, _, body = _read(connection).partition(b"\r\n\r\n")
        return _text(head.decode("latin-1").lower(), body)
    except (GraderError, OSError, ValueError):
        return None


def _read(connection: socket.socket) -> bytes:
    parts: list[bytes] = []
    size = 0
    while part := connection.recv(65536):
        parts.append(part)
        size += len(part)
        if size > MAX_BYTES:
            raise ValueError("the answer is too large")
    return b"".join(parts)


def _text(head: str, body: bytes) -> str | None:
    status, *lines = head.split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines if ": " in line)
    whole = headers.get("content-length") == str(len(body)) and "transfer-encoding" not in headers
    good = status[:5] == "http/" and status[8:12] == " 200" and "content-encoding" not in headers
    if not (good and whole and headers.get("content-type", "").startswith("application/json")):
        return None
    return body.decode("utf-8")
