"""Baselines that could not be timed: each try takes seconds, so gradings skip them for a while."""

from __future__ import annotations

import hashlib
import threading
import time
from dataclasses import dataclass, field

from grader.challenge.loader import Challenge
from grader.challenge.model import NamedBaseline
from grader.judge.device import Hardware

# The fault may have passed by then.
RETRY_SECONDS = 1800.0
Key = tuple[str, int, str, str, str]


@dataclass
class FailedBaselines:
    """Per process, whose versions of torch and Triton do not change."""

    _failures: dict[Key, tuple[str, float]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, key: Key, why: str) -> None:
        with self._lock:
            self._failures[key] = (why, time.monotonic() + RETRY_SECONDS)

    def why(self, key: Key) -> str:
        """Empty if it may be tried."""
        with self._lock:
            why, end = self._failures.get(key, ("", 0.0))
            if time.monotonic() < end:
                return why
            self._failures.pop(key, None)
            return ""


FAILED = FailedBaselines()


def key_of(challenge: Challenge, name: str, device: Hardware, baseline: NamedBaseline | None = None) -> Key:
    """``name``: eager, compile, or that of ``baseline``."""
    source = challenge.reference_source
    if baseline is not None and baseline.source:
        source += challenge.baseline_source(baseline) or ""
    digest = hashlib.sha256(source.encode()).hexdigest()
    return challenge.slug, challenge.manifest.version, digest, f"{device.on}: {device.model}", name
