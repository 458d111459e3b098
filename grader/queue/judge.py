"""What a worker needs of its judge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from grader.judge.job import Job, JudgingProgress, Outcome


class Judge(Protocol):
    """``grader.judge.process.JudgeProcess`` is one."""

    @property
    def device_model(self) -> str:
        """The model of the device: baselines are kept per model."""

    @property
    def torch_version(self) -> str:
        """Likewise: baselines are kept per version of torch."""

    @property
    def architecture(self) -> str:
        """What nvcc compiles for the device, such as sm_90a."""

    def warm_up(self) -> None:
        """Get ready before the first submission comes. Raises JudgeFailure."""

    def probe(self) -> None:
        """Start afresh and use the device. Raises JudgeFailure where it does not work."""

    def try_box(self) -> None:
        """Start a box and end it. Raises BoxUnavailable where this host cannot, JudgeFailure where the judge cannot
        even begin."""

    def run(
        self, job: Job, on_progress: Callable[[JudgingProgress], None], cancelled: Callable[[], bool]
    ) -> Outcome:
        """Judge one submission. Raises Cancelled, JudgeFailure."""

    def close(self) -> None:
        """End the process."""
