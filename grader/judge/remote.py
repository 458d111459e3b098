"""Drives the runner in a box: load, bind, call. Everything that it answers is a hint; what counts is in the arena."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader import limits
from grader.judge.arena import Arena
from grader.judge.channel import BoxGone, BoxLied, BoxSilent, Channel
from grader.judge.gate import HostGate
from grader.judge.messages import Bound, Failure, Hello, Loaded, Queued, Returned
from grader.sandbox.box import Box, BoxEnd

if TYPE_CHECKING:
    import torch

# Binding maps a few descriptors; a runner that needs longer has stopped working.
_BIND_SECONDS = 10.0
# How long a box whose connection ended may take to tell how it ended.
_END_SECONDS = 2.0


@dataclass(frozen=True)
class Timed:
    """One round by the judge's clock, in seconds: ``gate`` from open to done, ``window`` from reveal to compared."""

    gate: float
    window: float
    host: float


@dataclass(frozen=True)
class Answer:
    """A call that came back, ``seconds`` after the gate opened. ``failure``: what it raised. ``empty_launches``:
    kernels launched with no program."""

    seconds: float
    failure: Failure | None
    empty_launches: list[str]


class Remote:
    """One box and the runner inside it."""

    def __init__(self, box: Box, interrupt: Callable[[], None] = lambda: None) -> None:
        self.box = box
        self.environment: dict[str, str] = {}
        self._channel = Channel(box.connection, interrupt)
        self._gate = HostGate()
        self._closed = False

    def hello(self) -> None:
        self.environment = self._channel.expect(Hello, _within(limits.LOAD_SECONDS)).environment

    def load(self, message: Mapping[str, Any]) -> Failure | None:
        """Load a submission, reference or control. Returns what went wrong with it, or None."""
        self._channel.send({"op": "load", **message})
        return self._channel.expect(Loaded, _within(limits.LOAD_SECONDS)).error

    def bind(self, arena: Arena) -> None:
        """Give the runner the buffers that the next calls work on."""
        self._channel.send(
            {"op": "bind", "entries": arena.entries()}, [self._gate.descriptor, *arena.descriptors()]
        )
        self._channel.expect(Bound, _within(_BIND_SECONDS))

    def call(self, arena: Arena, inputs: Mapping[str, torch.Tensor], seconds: float) -> Answer:
        """One call behind the gate, waited for on the connection. Raises a ChannelError where none comes back."""
        self._queue()
        arena.reveal(inputs)
        opened = self._gate.open()
        return self._returned(opened, seconds)

    def timed_call(
        self, arena: Arena, inputs: Mapping[str, torch.Tensor], seconds: float, check: Callable[[], None]
    ) -> tuple[Timed, Answer]:
        """One round: reveal, open, spin until done, then ``check`` (snapshot and compare) within the window."""
        host = self._queue()
        start = time.perf_counter()
        arena.reveal(inputs)
        opened = self._gate.open()
        done = self._gate.spin_until_done(opened + seconds, self._channel.gone)
        if done is None:
            self._returned(opened, seconds)
            raise BoxLied("returned without setting the gate's done word")
        check()
        closed = time.perf_counter()
        answer = self._returned(opened, seconds + closed - opened)
        return Timed(gate=done - opened, window=closed - start, host=host), answer

    def _queue(self) -> float:
        """Ask for the next round's call; returns the seconds until the runner said that it waits at the gate."""
        start = time.perf_counter()
        number = self._gate.next_round()
        self._channel.send({"op": "call", "round": number})
        if self._channel.expect(Queued, _within(_BIND_SECONDS)).round != number:
            raise BoxLied("queued another round than was asked for")
        return time.perf_counter() - start

    def _returned(self, opened: float, seconds: float) -> Answer:
        message = self._channel.expect(Returned, opened + seconds)
        took = time.perf_counter() - opened
        if message.round != self._gate.round or not self._gate.is_done():
            raise BoxLied("returned from another round than was asked for")
        return Answer(took, message.error, message.empty_launches)

    def end(self) -> BoxEnd | None:
        """How the box ended, once its connection is gone; None while it seems to live."""
        return self.box.end(_END_SECONDS)

    def close(self) -> BoxEnd:
        """End the box, whatever state it is in. Harmless when called again."""
        end = self.box.kill()
        if not self._closed:
            self._closed = True
            self._gate.close()
        return end


def _within(seconds: float) -> float:
    return time.perf_counter() + seconds


__all__ = ["Answer", "BoxGone", "BoxLied", "BoxSilent", "Remote", "Timed"]
