"""The lines of long queues, kept for a moment: hundreds who wait look at once, and have them worked out once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy.orm import Session

from grader.records.models import SubmissionRow

if TYPE_CHECKING:
    from grader.service.waiting import QueueSnapshot

# A line so short is read anew for each look: it costs little, and its numbers are watched one by one.
_SHORT = 50
# Of a longer one a place is told that is at most so old, and whoever joined it is told none at first.
_KEPT_SECONDS = 1.0
_MISSING_SECONDS = 0.25


@dataclass(frozen=True)
class _Kept:
    line: QueueSnapshot
    at: float


class QueueSnapshots:
    """Of one process; devices are few."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: dict[str, _Kept] = {}
        # One at a time: who comes while a line is worked out gets that one.
        self._lock = threading.Lock()

    def of(self, session: Session, row: SubmissionRow, silent_s: float) -> QueueSnapshot:
        """The line that ``row`` waits in. ``silent_s``: see ``line_of``."""
        from grader.service.waiting import line_of  # it needs the platform, which holds this

        # Who holds the lock must not wait for a connection: those who have them may all be waiting for the lock.
        session.connection()
        with self._lock:
            kept = self._kept.get(row.device)
            if kept is not None and self._clock() - kept.at <= _age(kept.line, row):
                return kept.line
            line = line_of(session, row.device, silent_s)
            self._kept[row.device] = _Kept(line, self._clock())
            return line


def _age(line: QueueSnapshot, row: SubmissionRow) -> float:
    """How old this line may be for a look at that row; below zero where it may not be used at all."""
    if len(line.places) <= _SHORT:
        return -1.0
    return _KEPT_SECONDS if row.id in line.places else _MISSING_SECONDS
