"""Counts this process's open descriptors, to find leaks."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# Threads of earlier tests may still open and close some. A leaked descriptor stays open for ever.
PATIENCE_SECONDS = 5.0


@contextmanager
def none_left_open() -> Iterator[None]:
    before = _open()
    yield
    end = time.monotonic() + PATIENCE_SECONDS
    while (left := _open() - before) and time.monotonic() < end:
        time.sleep(0.02)
    assert not left, f"left open: {sorted(left)}"


def _open() -> set[tuple[str, str]]:
    """Number and target of each descriptor; the targets of sockets, pipes and memory are numbered."""
    found = set()
    for path in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # such as that of the folder itself
            found.add((path.name, os.readlink(path)))  # noqa: PTH115 - Path.readlink stumbles over "socket:[1]"
    return found
