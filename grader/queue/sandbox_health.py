"""Detects a host that cannot judge (an engine that restarts, a full disk), so no submission loses an attempt."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

from grader.errors import BoxUnavailable, GraderError
from grader.logs import get_logger

log = get_logger(__name__)

_PAUSES_S = (1.0, 2.0, 4.0, 8.0)


class Starter(Protocol):
    def try_box(self) -> None:
        """Raises BoxUnavailable, or another GraderError if it fails earlier."""


class SandboxHealth:
    """``publish`` gets the reason why no box starts, or ""."""

    def __init__(self, starter: Starter, publish: Callable[[str], None]) -> None:
        self._starter = starter
        self._publish = publish
        self._lost = ""

    def lost(self, alone: bool) -> str:
        """Why nothing can be judged here, or "". ``alone``: nothing else watches the judge's start."""
        try:
            self._starter.try_box()
        except BoxUnavailable as error:
            self._lost = f"{error.message} {error.hint}".strip()
        except GraderError as error:
            self._lost = f"{error.message} {error.hint}".strip() if alone else ""
        if self._lost:
            log.error("no_boxes", reason=self._lost)
            self._publish(self._lost)
        return self._lost

    def wait(self, stopping: threading.Event) -> None:
        tries = 0
        while self._lost and not stopping.wait(_PAUSES_S[min(tries, len(_PAUSES_S) - 1)]):
            tries += 1
            try:
                self._starter.try_box()
            except GraderError:
                continue
            log.info("boxes_again", tries=tries)
            self._lost = ""
            self._publish("")
