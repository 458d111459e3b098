"""How a worker lets go of a submission that it holds. Failures here are never the student's fault."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from itertools import chain, repeat
from typing import TypeVar

from grader import metrics
from grader.errors import ChallengeChanged, ChallengeInvalid, GraderError
from grader.logs import get_logger
from grader.queue.coordinator import AWAY, Coordinator, ServerAway
from grader.records.claims import Claim
from grader.schemas.quiz import DrawnQuestion
from grader.schemas.report import Report
from grader.schemas.submission import State
from grader.service.challenges.versions import ServedVersion

log = get_logger(__name__)
T = TypeVar("T")

# A verdict must survive a database outage. If somebody else takes the submission, its fence drops this
# verdict.
_WRITE_PAUSES_S = (0.2, 1.0, 3.0)
# No failover takes this long: the database refuses this write.
_WRITE_SECONDS = 600.0


class Finaliser:
    # A broken engine must not fail a whole queue within a second.
    pause_after_failure_s = 1.0

    def __init__(self, coordinator: Coordinator, stopping: threading.Event) -> None:
        self._coordinator = coordinator
        self._stopping = stopping

    def finish(
        self, held: Claim, report: Report, served: ServedVersion, quiz: Sequence[DrawnQuestion] = ()
    ) -> None:
        """Raises ChallengeChanged if ``served`` no longer matches its version."""
        stored = self.write(lambda: self._coordinator.finish(held, report, served, quiz))
        if stored:
            metrics.judged(report)
        log.info("judged" if stored else "late_result_dropped", verdict=report.verdict.value)

    def give_back(self, held: Claim, why: str = "") -> None:
        """Counts no attempt. ``why``: this worker cannot judge now."""
        state = self.write(lambda: self._coordinator.give_back(held, why))
        log.info("let_go", state=state.value if state else "lost")
        self._back_in_queue(held, state)

    def give_back_away(self, held: Claim, error: Exception) -> None:
        """The platform did not answer meanwhile. Counts no attempt."""
        part = "server" if isinstance(error, ServerAway) else "database"
        log.warning(f"{part}_away", error=type(error).__name__)
        self.give_back(held, f"The {part} was away.")

    def fail(self, held: Claim, error: str, report: Report | None) -> None:
        """Counts, unless this worker is ending: its judge and boxes often end a moment before it."""
        if self._stopping.is_set():
            log.warning("failure_while_stopping", error=error)
            self.give_back(held)
            return
        state = self.write(lambda: self._coordinator.fail(held, error, report))
        metrics.failed(held.device)
        log.warning("our_failure", state=state.value if state else "lost", error=error)
        self._stopping.wait(self.pause_after_failure_s)
        self._back_in_queue(held, state)

    def _back_in_queue(self, held: Claim, state: State | None) -> None:
        if state is State.QUEUED:
            self._coordinator.announce(held)

    def set_sandbox_fault(self, reason: str) -> None:
        """``reason`` is empty if it can start sandboxes."""
        self.write(lambda: self._coordinator.set_sandbox_fault(reason))

    def write(self, change: Callable[[], T]) -> T:
        ends = time.monotonic() + _WRITE_SECONDS
        for tries, pause in enumerate(chain(_WRITE_PAUSES_S, repeat(_WRITE_PAUSES_S[-1])), 1):
            try:
                return change()
            except AWAY as error:
                hurried = self._stopping.is_set() and tries > len(_WRITE_PAUSES_S)
                if hurried or time.monotonic() > ends:
                    raise
                log.warning("write_tried_again", error=type(error).__name__)
                time.sleep(pause)
        raise AssertionError("the loop has no end")


def check_version(held: Claim, version: int) -> None:
    """Raises ChallengeChanged if a rejudge would use another version than staff ordered."""
    if held.rejudge and held.version != version:
        raise ChallengeChanged(
            f"Version {held.version} of {held.challenge} was to be judged, but this host has version {version}.",
            "Bring the catalogue of every worker to the same version.",
        )


def words(error: Exception) -> str:
    """Text for users. Only our own errors: others may name paths."""
    if isinstance(error, ChallengeInvalid):
        # It names files of this machine.
        return "The challenge's folder on the server is broken. Staff have been alerted."
    if isinstance(error, GraderError):
        return f"{error.message} {error.hint}".strip()
    return f"An unexpected error in the judge ({type(error).__name__})."
