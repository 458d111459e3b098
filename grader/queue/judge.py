"""The interface of a worker's judge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from grader.judge.job import Job, JudgingProgress, Outcome


class Judge(Protocol):
    """Implemented by ``grader.judge.process.JudgeProcess``."""

    @property
    def device_model(self) -> str:
        """The device's model: baselines are stored by model."""

    @property
    def torch_version(self) -> str:
        """Baselines are stored by version of torch, too."""

    @property
    def architecture(self) -> str:
        """nvcc's target for the device, such as sm_90a."""

    def warm_up(self) -> None:
        """Get ready before the first submission. Raises JudgeFailure."""

    def probe(self) -> None:
        """Restart and use the device. Raises JudgeFailure if it does not work."""

    def try_box(self) -> None:
        """Start a box and end it. Raises BoxUnavailable if this host cannot, JudgeFailure if the judge cannot even
        start."""

    def run(
        self, job: Job, on_progress: Callable[[JudgingProgress], None], cancelled: Callable[[], bool]
    ) -> Outcome:
        """Judge one submission. Raises Cancelled, JudgeFailure."""

    def close(self) -> None:
        """End the process."""
