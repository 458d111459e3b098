"""Seconds of each part of a runner's preparation."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

# Sent with hello, before a submission is loaded.
seconds: dict[str, float] = {}


@contextlib.contextmanager
def timed(part: str) -> Iterator[None]:
    began = time.perf_counter()
    try:
        yield
    finally:
        seconds[part] = round(time.perf_counter() - began, 4)
