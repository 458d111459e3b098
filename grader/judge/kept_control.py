"""Keeps a GPU's control between submissions: its box, which never loads a submission, and its last rounds.

These rounds also serve the next submission if it follows at once at the same sizes: nothing has run in between.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from grader import limits
from grader.challenge.loader import Challenge
from grader.challenge.model import Workload
from grader.errors import BoxUnavailable
from grader.judge.rule import ControlRound
from grader.judge.runner_client import RunnerClient

FRESH_SECONDS = 5.0
# New boxes show how much times differ between boxes.
_MOST_USES = 50
# Older boxes might not live for the whole judging.
_OLDEST_SECONDS = limits.JUDGING_CLOCK_SECONDS
# Afterwards another worker may end the box.
WALL_SECONDS = _OLDEST_SECONDS + limits.JUDGING_CLOCK_SECONDS

_Key = tuple[str, str, str]


class KeptControl:
    """Its user gives the box back if all went well, else ends it."""

    def __init__(self) -> None:
        self._client: RunnerClient | None = None
        self._uses = 0
        self._made = 0.0
        self._rounds: dict[_Key, tuple[float, Sequence[ControlRound]]] = {}

    def take(self, interrupt: Callable[[], None]) -> RunnerClient | None:
        """None if no box is healthy. ``interrupt`` is the submission's."""
        client, self._client = self._client, None
        if client is None:
            return None
        old = time.monotonic() - self._made >= _OLDEST_SECONDS
        if self._uses >= _MOST_USES or old or client.gone():
            _end(client)
            return None
        client.serve(interrupt, limits.JUDGING_CLOCK_SECONDS)
        self._uses += 1
        return client

    def new(self) -> None:
        self._uses, self._made = 1, time.monotonic()

    def give_back(self, client: RunnerClient) -> None:
        self._client = client

    def keep_rounds(self, challenge: Challenge, workload: Workload, rounds: Sequence[ControlRound]) -> None:
        self._rounds[_key(challenge, workload)] = (time.monotonic(), rounds)

    def rounds(self, challenge: Challenge, workloads: Sequence[Workload]) -> list[Sequence[ControlRound]]:
        since = time.monotonic() - FRESH_SECONDS
        found = [self._rounds.get(_key(challenge, workload)) for workload in workloads]
        fresh = [rounds for kept in found if kept is not None for made, rounds in [kept] if made > since]
        return fresh if len(fresh) == len(workloads) else []

    def forget_rounds(self) -> None:
        """A submission's box starts: earlier rounds no longer describe the GPU."""
        self._rounds.clear()

    def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            _end(client)


def _key(challenge: Challenge, workload: Workload) -> _Key:
    """The control's work."""
    manifest, sizes = challenge.manifest, workload.sizes
    buffers = [
        (arg.name, arg.kind, arg.dtype, manifest.shape(arg, sizes), manifest.strides(arg, sizes))
        for arg in manifest.buffers
        if arg.name not in workload.without
    ]
    return challenge.slug, workload.name, repr(buffers)


def _end(client: RunnerClient) -> None:
    with suppress(BoxUnavailable):  # the next reap ends it
        client.close()
