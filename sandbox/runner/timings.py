"""How long each part of a runner's preparation took."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

# Keyed by part. Sent with hello, before the runner loads anything of a submission.
seconds: dict[str, float] = {}


@contextlib.contextmanager
def timed(part: str) -> Iterator[None]:
    began = time.perf_counter()
    try:
        yield
    finally:
        seconds[part] = round(time.perf_counter() - began, 4)
