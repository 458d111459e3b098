"""Sends grades to learning platforms, beside a worker's judging: one that does not answer holds up nothing else."""

from __future__ import annotations

import threading

from grader.logs import get_logger
from grader.service.lti import passback
from grader.service.platform import Platform

log = get_logger(__name__)


class GradeSender:
    """Looks every ``settings.sweep_s`` seconds, in a thread of its own. Of all workers each sends other grades, and one
    at a time looks for those that changed."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="grades", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        # A request that is under way ends by its own time limit; what it sent is sent again, which changes nothing.
        self._thread.join(1.0)

    def _run(self) -> None:
        while not self._stop.wait(self._platform.settings.sweep_s):
            try:
                passback.compare_now_and_then(self._platform)
                passback.deliver(self._platform)
            except Exception as error:  # the next turn tries again: the database was away, say
                log.warning("grades_not_sent", error=f"{type(error).__name__}: {error}")
