from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from grader.judge.job import Job, JudgingProgress, Outcome


class Judge(Protocol):
    """``grader.judge.process.JudgeProcess`` implements it."""

    @property
    def device_model(self) -> str:
        """Baselines are stored by model."""

    @property
    def torch_version(self) -> str:
        """Baselines are stored by version of torch, too."""

    @property
    def architecture(self) -> str:
        """nvcc's target, such as sm_90a."""

    def warm_up(self) -> None:
        """Raises JudgeFailure."""

    def probe(self) -> None:
        """Restart and use the device. Raises JudgeFailure if it does not work."""

    def try_box(self) -> None:
        """Raises BoxUnavailable if this host cannot start a box, JudgeFailure if the judge cannot start."""

    def run(
        self, job: Job, on_progress: Callable[[JudgingProgress], None], cancelled: Callable[[], bool]
    ) -> Outcome:
        """Raises Cancelled, JudgeFailure."""

    def close(self) -> None:
        """End the process."""
