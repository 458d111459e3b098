"""The two ends of a connection in tests of the judge."""

from __future__ import annotations

import array
import json
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from grader.judge.channel import Channel

# Seconds: a wait here, and what a busy machine may add before a test calls it too long.
PATIENCE = 0.02
SLACK = 2.0


def frame(body: bytes) -> bytes:
    return struct.pack("<I", len(body)) + body


def message(**fields: Any) -> bytes:
    return frame(json.dumps(fields).encode())


def speak(theirs: socket.socket, script: list[tuple[bytes, int]], ending: str) -> None:
    """Write it all at once, as far as the kernel takes it, then stay, close, or close for writing."""
    theirs.setblocking(False)
    with Path("/dev/null").open() as gift, suppress(BlockingIOError):
        for data, descriptors in script:
            rights = array.array("i", [gift.fileno()] * descriptors)
            theirs.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)] if descriptors else [])
    if ending == "close":
        theirs.close()
    elif ending == "shut":
        theirs.shutdown(socket.SHUT_WR)


@contextmanager
def pair() -> Iterator[tuple[Channel, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield Channel(ours), theirs


@contextmanager
def within(seconds: float) -> Iterator[None]:
    start = time.perf_counter()
    yield
    assert time.perf_counter() - start < seconds + SLACK


def soon(seconds: float = PATIENCE) -> float:
    return time.perf_counter() + seconds
