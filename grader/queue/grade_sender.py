"""Sends grades in the background, so a slow platform delays no judging."""

from __future__ import annotations

from grader.logs import get_logger
from grader.service.lti import delivery, passback
from grader.service.periodic import Periodic
from grader.service.platform import Platform

log = get_logger(__name__)


class GradeSender(Periodic):
    """Workers share the grades; one at a time looks for changed ones."""

    def __init__(self, platform: Platform) -> None:
        super().__init__("grades", platform.settings.sweep_s, end_s=1.0)
        self._platform = platform

    def run_once(self) -> None:
        try:
            passback.compare_if_due(self._platform)
            delivery.deliver(self._platform)
        except Exception as error:
            log.warning("grades_not_sent", error=f"{type(error).__name__}: {error}")
