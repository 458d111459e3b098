"""A GPU's control from one submission to the next: its box, which is ours and loads no submission, and its last rounds.

The rounds behind one submission are the rounds ahead of the next, where that comes right behind it and is timed at the
same sizes: nothing of a submission's has run in between.
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

# Rounds are as good as new for so long, if nothing of a submission's has run since.
FRESH_SECONDS = 5.0
# What times differ by from one control's box to the next is to show.
_MOST_USES = 50
# It must not be older when it is taken: it lives as long as a submission may then be judged.
_OLDEST_SECONDS = limits.JUDGING_CLOCK_SECONDS
# Of its box, by which another worker may know that nobody wants it any more.
WALL_SECONDS = _OLDEST_SECONDS + limits.JUDGING_CLOCK_SECONDS

_Key = tuple[str, str, str]


class KeptControl:
    """One judge's. Who takes the box gives it back when all went well; else its taker ends it, and the next is a new
    one."""

    def __init__(self) -> None:
        self._client: RunnerClient | None = None
        self._uses = 0
        self._made = 0.0
        self._rounds: dict[_Key, tuple[float, Sequence[ControlRound]]] = {}

    def take(self, interrupt: Callable[[], None]) -> RunnerClient | None:
        """The box, for a submission that ``interrupt`` speaks for; None where there is none that is well."""
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
        """The box that is given back next is a new one."""
        self._uses, self._made = 1, time.monotonic()

    def give_back(self, client: RunnerClient) -> None:
        self._client = client

    def keep_rounds(self, challenge: Challenge, workload: Workload, rounds: Sequence[ControlRound]) -> None:
        self._rounds[_key(challenge, workload)] = (time.monotonic(), rounds)

    def rounds(self, challenge: Challenge, workloads: Sequence[Workload]) -> list[Sequence[ControlRound]]:
        """Those of each workload where all are fresh, else none."""
        since = time.monotonic() - FRESH_SECONDS
        found = [self._rounds.get(_key(challenge, workload)) for workload in workloads]
        fresh = [rounds for kept in found if kept is not None for made, rounds in [kept] if made > since]
        return fresh if len(fresh) == len(workloads) else []

    def forget_rounds(self) -> None:
        """A submission's box begins to run: what was measured before tells nothing of the GPU any more."""
        self._rounds.clear()

    def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            _end(client)


def _key(challenge: Challenge, workload: Workload) -> _Key:
    """What a control works on: the buffers of a challenge, in their order, at these sizes."""
    buffers = [
        (argument.name, argument.kind, argument.dtype, challenge.manifest.shape(argument, workload.sizes))
        for argument in challenge.manifest.buffers
    ]
    return challenge.slug, workload.name, repr(buffers)


def _end(client: RunnerClient) -> None:
    with suppress(BoxUnavailable):  # its label tells the next reap
        client.close()
