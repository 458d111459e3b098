"""The two ends of a line in tests of the judge: what a box may write, and how long the judge may take over it."""

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

# What a wait is given here, and what a busy machine may add to it before a test calls it too long.
PATIENCE = 0.02
SLACK = 2.0


def frame(body: bytes) -> bytes:
    return struct.pack("<I", len(body)) + body


def message(**fields: Any) -> bytes:
    return frame(json.dumps(fields).encode())


def speak(theirs: socket.socket, script: list[tuple[bytes, int]], ending: str) -> None:
    """Say it all at once, as far as the kernel takes it, then stay, close, or close for writing."""
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
