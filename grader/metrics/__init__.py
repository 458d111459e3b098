"""Figures of this process; without ``begin`` it counts nothing.

A host's processes share files in the data folder, so one serves them all. Facts of the database:
``grader.service.operation.figures``.
"""

from __future__ import annotations

import functools
import os
import socket
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

    from grader.sandbox.box import BoxPurpose
    from grader.schemas.report import Report
    from grader.settings import Settings

from grader.logs import get_logger

log = get_logger(__name__)

# prometheus_client reads it at import.
_FOLDER = "PROMETHEUS_MULTIPROC_DIR"


def folder_of(settings: Settings) -> Path:
    """Process ids name the files, so per host."""
    return settings.data_dir / "metrics" / socket.gethostname()


def begin(settings: Settings) -> None:
    """Call it before anything imports prometheus_client. Child processes count, too."""
    folder = folder_of(settings)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.environ[_FOLDER] = str(folder)


@functools.cache
def _figures() -> ModuleType | None:
    """A failure to count never fails a judgement."""
    if _FOLDER not in os.environ:
        return None
    try:
        from grader.metrics import local
    except OSError as error:
        log.warning("nothing_counted", error=error.strerror)
        return None
    return local


def http_served(method: str, route: str, status: int, seconds: float) -> None:
    """``route``: the rule, such as /submissions/<id>, which bounds their number."""
    if figures := _figures():
        with suppress(OSError):
            figures.HTTP_SECONDS.labels(method, route, str(status)).observe(seconds)


def box_started(purpose: BoxPurpose, seconds: float, there: bool) -> None:
    """``seconds``: until ready or failed."""
    if figures := _figures():
        with suppress(OSError):
            if there:
                figures.BOX_SECONDS.labels(purpose.value).observe(seconds)
            else:
                figures.BOX_FAILURES.labels(purpose.value).inc()


def judged(report: Report) -> None:
    if figures := _figures():
        with suppress(OSError):
            for phase, seconds in report.breakdown_s.items():
                figures.JUDGE_SECONDS.labels(phase, report.device).observe(seconds)


def failed(device: str) -> None:
    """The platform's failure, not the submission's."""
    if figures := _figures():
        with suppress(OSError):
            figures.JUDGE_FAILURES.labels(device).inc()
