"""Sends grades to learning platforms next to a worker's judging, so a slow platform delays nothing else."""

from __future__ import annotations

from grader.logs import get_logger
from grader.service.lti import delivery, passback
from grader.service.periodic import Periodic
from grader.service.platform import Platform

log = get_logger(__name__)


class GradeSender(Periodic):
    """Sends every ``settings.sweep_s`` seconds. Workers share the grades among them, and one at a time looks for
    changed ones."""

    def __init__(self, platform: Platform) -> None:
        # A request that is under way ends by its own time limit. Its grades are sent again, which is harmless.
        super().__init__("grades", platform.settings.sweep_s, end_s=1.0)
        self._platform = platform

    def run_once(self) -> None:
        try:
            passback.compare_if_due(self._platform)
            delivery.deliver(self._platform)
        except Exception as error:  # the database was away, say: the next turn tries again
            log.warning("grades_not_sent", error=f"{type(error).__name__}: {error}")
