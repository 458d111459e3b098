"""Import only after ``begin``: prometheus_client then keeps figures in files."""

from __future__ import annotations

import os
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Histogram

# Allocated at once: on a full disk, a write to a hole in mapped memory kills the process.
_FILE_BYTES = 1 << 20


def _take_room(folder: Path) -> None:
    """Raises OSError on a full disk."""
    for kind in ("counter", "histogram"):
        path = folder / f"{kind}_{os.getpid()}.db"
        with path.open("ab") as file:
            os.posix_fallocate(file.fileno(), 0, _FILE_BYTES)


_take_room(Path(os.environ["PROMETHEUS_MULTIPROC_DIR"]))

# Not served: /metrics reads the files of all processes.
_REGISTRY = CollectorRegistry()

HTTP_SECONDS = Histogram(
    "grader_http_request_seconds",
    "Time to answer a web request.",
    ("method", "route", "status"),
    # Target: 300 ms at the 99th percentile.
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.5, 10.0),
    registry=_REGISTRY,
)
BOX_SECONDS = Histogram(
    "grader_box_start_seconds",
    "Time until a box was ready: almost none if a spare one waited.",
    ("purpose",),
    buckets=(0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0),
    registry=_REGISTRY,
)
BOX_FAILURES = Counter(
    "grader_box_start_failures_total", "Boxes that could not be started.", ("purpose",), registry=_REGISTRY
)
JUDGE_SECONDS = Histogram(
    "grader_judge_phase_seconds",
    "Time to judge one submission, by phase; total is the sum.",
    ("phase", "device"),
    buckets=(0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 900.0),
    registry=_REGISTRY,
)
JUDGE_FAILURES = Counter(
    "grader_judge_failures_total",
    "Platform failures while compiling or judging; each is retried, and finally given up.",
    ("device",),
    registry=_REGISTRY,
)
