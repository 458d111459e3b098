"""Figures of this process: requests, boxes, judging. They are kept in files of the data folder that all processes of a
host share, so that the web, or one worker, can serve all of them. A process that never called ``begin`` counts nothing.

What is a fact of the database is not counted here: see ``grader.service.operation.figures``.
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

# prometheus_client reads it when it is imported; so do the children of this process.
_FOLDER = "PROMETHEUS_MULTIPROC_DIR"


def folder_of(settings: Settings) -> Path:
    """Where the processes of this host keep their figures: process ids, which name the files, are the host's."""
    return settings.data_dir / "metrics" / socket.gethostname()


def begin(settings: Settings) -> None:
    """Count from now on, also in the processes that this one starts. Before anything imports prometheus_client."""
    folder = folder_of(settings)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.environ[_FOLDER] = str(folder)


@functools.cache
def _figures() -> ModuleType | None:
    """What is counted with; None where nothing is. A failure to count never fails a judgement."""
    if _FOLDER not in os.environ:
        return None
    try:
        from grader.metrics import local
    except OSError as error:
        log.warning("nothing_counted", error=error.strerror)
        return None
    return local


def http_served(method: str, route: str, status: int, seconds: float) -> None:
    """``route`` is the rule, such as /submissions/<id>: as many values as there are rules."""
    if figures := _figures():
        with suppress(OSError):
            figures.HTTP_SECONDS.labels(method, route, str(status)).observe(seconds)


def box_started(purpose: BoxPurpose, seconds: float, there: bool) -> None:
    """``seconds`` until a box was there, or could not be had."""
    if figures := _figures():
        with suppress(OSError):
            if there:
                figures.BOX_SECONDS.labels(purpose.value).observe(seconds)
            else:
                figures.BOX_FAILURES.labels(purpose.value).inc()


def judged(report: Report) -> None:
    """What judging it took, by phase."""
    if figures := _figures():
        with suppress(OSError):
            for phase, seconds in report.breakdown_s.items():
                figures.JUDGE_SECONDS.labels(phase, report.device).observe(seconds)


def failed(device: str) -> None:
    """A failure of ours: it is tried again, or given up."""
    if figures := _figures():
        with suppress(OSError):
            figures.JUDGE_FAILURES.labels(device).inc()
