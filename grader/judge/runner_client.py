"""Drives the runner in a box. A submission's answers are hints: the arena and the judge's clock count."""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from grader import limits
from grader.errors import BoxUnavailable, JudgeFailure
from grader.judge.arena import Arena, Inputs
from grader.judge.channel import BoxGone, BoxLied, BoxSilent, Channel, ChannelError, StillCompiling
from grader.judge.device import BoxDevice, OutputChecker
from grader.judge.messages import (
    Bound,
    Compiled,
    Compiling,
    Constructs,
    Failure,
    Forgotten,
    Hello,
    Imported,
    Loaded,
    OfCall,
    Queued,
    QuizFact,
    Returned,
    Sampled,
    Seen,
    Starting,
    Stepped,
    Unfreed,
    Writers,
)
from grader.judge.phases import phase
from grader.sandbox.allowance import Allowance
from grader.sandbox.box import Box, BoxEnd, Clocked
from grader.schemas.call_profile import CallProfile
from grader.schemas.error_map import ErrorMap
from grader.schemas.own_case import StepChoice

if TYPE_CHECKING:
    import torch

# Processor time; mapping a few descriptors takes far less.
_BIND_SECONDS = 10.0
# Looking up 65,536 elements takes 0.3 s.
_WRITERS_SECONDS = 10.0
# A later runner waits behind the closed gate for an allocation, a synchronous copy or a compilation. The gate opens,
# and the call counts as ungated.
_GATED_SECONDS = 2.0
# For a box that was late once: every case would wait.
_IMPATIENT_SECONDS = 0.1
# Output may lag this much behind the answer.
_MARK_SECONDS = 2.0
_MARK_POLL_SECONDS = 0.0005
# A GPU may report a fault this long after a call's limit.
_FAULT_SECONDS = 3.0
_LATE_LOOK_SECONDS = 1.0


@dataclass(frozen=True)
class Timed:
    #: See ``grader.judge.gate``.
    before: float
    gate: float
    after: float
    #: The call's host time until queued, hidden behind the gate.
    host: float
    #: All waiting for the runner outside the window.
    between: float = 0.0


@dataclass(frozen=True)
class Answer:
    #: Since the gate opened.
    seconds: float
    failure: Failure | None
    #: Kernels launched with zero programs.
    empty_launches: list[str]
    #: A control's measure of its call.
    control_s: float | None = None
    #: Of a surveyed call.
    seen: Seen | None = None
    #: By the emulated GPU's model.
    modelled_s: float | None = None
    #: The counted work.
    profile: CallProfile | None = None
    unfreed: Unfreed | None = None
    forgotten: Forgotten | None = None
    remarks: tuple[str, ...] = ()
    #: It waited for the device behind the closed gate, where a wait returns at once.
    waits_left_out: bool = False
    sampled: Sampled | None = None
    #: Warp instructions on an emulated GPU.
    instructions: int = 0
    step: Stepped | None = None
    quiz: Sequence[QuizFact] = ()
    constructs: Constructs | None = None

    @property
    def may_have_waited(self) -> bool:
        """True if a left-out wait may explain the fault, and the process still works."""
        return self.waits_left_out and not (self.failure is not None and self.failure.sticky)


@dataclass
class CompilingTime:
    """Seconds that a submission may still claim for compiling, in all its boxes together."""

    left: float = limits.KERNELS_OF_SUBMISSION_SECONDS


class Ungated(Exception):
    """The call did not queue behind a closed gate: time it ungated."""


class RunnerClient:
    def __init__(
        self,
        box: Box,
        device: BoxDevice,
        interrupt: Callable[[], None] = lambda: None,
        memory_bytes: int = limits.BOX_MEMORY_BYTES,
        compiling: CompilingTime | None = None,
    ) -> None:
        self.box = box
        self._compiling = compiling or CompilingTime()
        self.memory_bytes = memory_bytes
        self.environment: dict[str, str] = {}
        # Seconds by step.
        self.start_seconds: dict[str, float] = {}
        self._device = device
        self._stream = device.stream
        self._channel = Channel(box.connection, interrupt)
        self._gate = device.make_gate()
        self._closed = False
        self._token = secrets.token_hex(8)
        self._marks_come = True
        self._last_read = 0  # the round of the last printed()
        self._seen_waiting = False
        # A call has not returned.
        self._calling = False
        # The box failed to answer and must be closed.
        self.lost = False
        # A call was right only with the gate open from the start, as all later calls are made.
        self.needs_open_gate = False

    def serve(self, interrupt: Callable[[], None], seconds: float) -> None:
        """Serve another submission for ``seconds``: our boxes only."""
        self._channel.interrupt = interrupt
        clocked: Clocked = self.box  # type: ignore[assignment]
        clocked.live_for(seconds)

    def gone(self) -> bool:
        return self._channel.gone()

    @property
    def on_processor(self) -> bool:
        return self._device.on_processor

    @property
    def interprets(self) -> bool:
        return self.on_processor and not self._device.modelled

    def hello(self) -> None:
        allowance = Allowance(
            limits.BOX_START_SECONDS, self.box.cpu_seconds, patience=limits.BOX_START_PATIENCE
        )
        said: Starting = self._channel.expect(Starting, allowance)
        if isinstance(said, Imported):
            self._channel.send({"op": "use_gpu"})
        hello = said if isinstance(said, Hello) else self._channel.expect(Hello, allowance)
        self.environment, self.start_seconds = hello.environment, hello.seconds

    def _processor(self, seconds: float) -> Allowance:
        """A waiting GPU serves nobody, so its clock is stricter."""
        patience = limits.CLOCK_PATIENCE if self.on_processor else limits.IDLE_PATIENCE
        return Allowance(seconds, self.box.cpu_seconds, patience=patience)

    def _allow(self, seconds: float, *, exact: bool = False) -> Allowance:
        if not self.on_processor:
            return Allowance(seconds)
        return Allowance(seconds, self.box.cpu_seconds, exact=exact, total=limits.BOX_WALL_SECONDS)

    def load(self, message: Mapping[str, Any], artefact: bytes | None = None) -> Failure | None:
        """The artefact is a sealed ``memfd``: anyone could manipulate a path."""
        if artefact is None:
            self._channel.send({"op": "load", **message})
        else:
            with sealed(artefact) as descriptor:
                self._channel.send({"op": "load", **message}, [descriptor])
        return self._channel.expect(Loaded, self._processor(limits.LOAD_SECONDS)).error

    def bind(self, arena: Arena) -> None:
        message = {"op": "bind", "memory": self._device.memory, "entries": arena.entries()}
        with phase("bind"):
            if self._stream is not None:
                self._stream.settle()  # old contents must be gone before the runner has the memory
            self._channel.send(message, [self._gate.descriptor, *arena.descriptors()])
            self._channel.expect(Bound, self._processor(_BIND_SECONDS))

    def unbind(self) -> None:
        """GPU memory is free only when no process maps it. A box that has not returned does not listen, so it is
        ended."""
        if self._calling and not self._channel.gone():
            with suppress(BoxUnavailable):
                self.box.kill()
        with suppress(ChannelError), phase("bind"):
            self._channel.send({"op": "unbind"})
            self._channel.expect(Bound, self._processor(_BIND_SECONDS))

    def warm_up(
        self, arena: Arena, inputs: Inputs, seconds: float, *, survey: bool = False, **of_emulated: Any
    ) -> Answer:
        """One untimed call with an open gate.

        Libraries load and Triton compiles within a separate budget, longer compilations in another, see
        ``_expect_queued``; then ``seconds`` begin. ``survey``: see ``grader.judge.survey``; ``of_emulated``: see
        ``call``.
        """
        arena.reveal(inputs)
        self._gate.next_round()
        self._gate.open()
        self._send_call(more={"survey": survey, **of_emulated})
        self._expect_queued(self._allow(limits.COMPILE_SECONDS + seconds), compiles=True)
        return self._returned(time.perf_counter(), self._allow(seconds, exact=True))

    def call(self, arena: Arena, inputs: Inputs, seconds: float, **of_emulated: Any) -> Answer:
        """One call behind the gate. Raises a ChannelError if it does not return. ``of_emulated``, for an emulated
        GPU: ``count`` work, run a ``sample`` of blocks (``CountedSample``), ``unchecked``, ``watch`` kernels."""
        if self.needs_open_gate:
            return self.open_call(arena, inputs, seconds, **of_emulated)
        self._ask(of_emulated=of_emulated)
        try:
            patience = self._allow(_IMPATIENT_SECONDS if self._seen_waiting else _GATED_SECONDS)
            self._expect_queued(patience, compiles=True)
            queued = True
        except StillCompiling:
            raise
        except BoxSilent:
            self._seen_waiting, queued = True, False
        arena.reveal(inputs)
        opened, allowance = self._gate.open(), self._allow(seconds, exact=True)
        if not queued:
            self._expect_queued(allowance, compiles=True)
        return self._returned(opened, allowance)

    def recorded_call(
        self,
        arena: Arena,
        inputs: Inputs,
        seconds: float,
        step: StepChoice | None = None,
        wanted: dict[str, Any] | None = None,
    ) -> Answer:
        """Record a block on an emulated GPU: the failing one, that of ``step``, or one that would write the element
        ``wanted`` (a ``Would`` with array and element). Tests nothing."""
        chosen = step.model_dump() if step is not None else None
        return self._open_with(arena, inputs, seconds, {"record": wanted or chosen or True})

    def quiz_call(self, arena: Arena, inputs: Inputs, seconds: float, seed: int) -> Answer:
        """``Answer.quiz`` has facts drawn from ``seed``."""
        return self._open_with(arena, inputs, seconds, {"quiz": seed})

    def _open_with(self, arena: Arena, inputs: Inputs, seconds: float, more: Mapping[str, Any]) -> Answer:
        arena.reveal(inputs)
        self._gate.next_round()
        opened, allowance = self._gate.open(), self._allow(seconds, exact=True)
        self._send_call(more=more)
        self._expect_queued(allowance, compiles=True)
        return self._returned(opened, allowance)

    def open_call(self, arena: Arena, inputs: Inputs, seconds: float, **of_emulated: Any) -> Answer:
        """With the gate open from the start, waits are real."""
        arena.reveal(inputs)
        self._gate.next_round()
        opened, allowance = self._gate.open(), self._allow(seconds, exact=True)
        self._send_call(more=of_emulated)
        self._expect_queued(allowance, compiles=True)
        return self._returned(opened, allowance)

    def writers(self, array: str, first: int, found: ErrorMap, given: Sequence[str] = ()) -> Writers | None:
        """Writers of the element ``first`` (flat) and a map's cells in the last call, and what it read of ``given``,
        on an emulated GPU. A box that does not answer is then ``lost``."""
        if not self._device.modelled:
            return None
        asked = {"width": found.width, "tile": found.tile, "rows": found.rows, "columns": found.columns}
        try:
            self._channel.send(
                {"op": "writers", "array": array, "first": first, "given": list(given), **asked}
            )
            return self._channel.expect(Writers, self._processor(_WRITERS_SECONDS))
        except ChannelError:
            self.lost = True
            return None

    def timed_call(
        self,
        arena: Arena,
        inputs: Mapping[str, torch.Tensor],
        seconds: float,
        watch: OutputChecker,
        *,
        gated: bool = True,
    ) -> tuple[Timed, Answer]:
        """One round: reveal, open, wait for done, then both checks within the window.

        Not ``gated``: the gate is open before the request, so host time counts. Raises Ungated, or a ChannelError.
        """
        # Made here, because it may be slow.
        allowance = self._allow(seconds, exact=True)
        # First: the longer a runner's stream is blocked, the more slowly it polls.
        with phase("settle"):
            if self._stream is not None:
                self._stream.before_round()
        with phase("queue"):
            host = self._queue(arena, inputs, seconds) if gated else 0.0
            if not gated:
                self._gate.next_round()
            elif self._stream is not None:
                self._stream.after_queued()
        with phase("window"):
            return self._window(arena, inputs, seconds, watch, allowance, host, gated=gated)

    def _window(
        self,
        arena: Arena,
        inputs: Mapping[str, torch.Tensor],
        seconds: float,
        watch: OutputChecker,
        allowance: Allowance,
        host: float,
        *,
        gated: bool,
    ) -> tuple[Timed, Answer]:
        try:
            opened = self._gate.open_behind(
                lambda: self._device.reveal(arena, inputs), watch.spot_check, watch.full_check
            )
            allowance.begin(opened)
            if not gated:
                self._send_call(marked=False)
            if not self._spin_until_done(opened + seconds, allowance):
                if not gated:
                    self._expect_queued(allowance)
                self._returned(opened, allowance)  # raises if it is not over, or over without "done"
                raise BoxSilent("done after its time was over", allowance)
            window = self._gate.check_now()
            checked = time.perf_counter()
        except BaseException:
            self._release()
            raise
        if not gated:
            self._expect_queued(self._allow(seconds))
        answer = self._returned(opened, self._allow(seconds))
        between = host + time.perf_counter() - checked
        return Timed(window.before, window.gate, window.after, host, between), answer

    def _spin_until_done(self, deadline: float, allowance: Allowance) -> bool:
        """Reads ``allowance`` only after ``deadline``: nothing else should run during a timed call."""
        while not self._gate.spin_until_done(deadline, self._channel.gone):
            if self._channel.gone() or (left := allowance.left()) == 0.0:
                return False
            # The round is late anyway: asking disturbs nothing.
            self._channel.ask()
            deadline = time.perf_counter() + min(left, _LATE_LOOK_SECONDS)
        return True

    def _release(self) -> None:
        """Stop waiting for this box: the device's next work would wait too. If that fails, end the box."""
        if self._gate.give_up():
            return
        if self._channel.gone():
            self.end()  # it seems to have ended by itself: report that
        self.box.kill()
        self._gate.give_up()

    def _queue(self, arena: Arena, inputs: Mapping[str, torch.Tensor], seconds: float) -> float:
        """Returns the seconds until the call waits at the gate."""
        start = time.perf_counter()
        self._ask(marked=False)
        try:
            self._expect_queued(self._allow(_GATED_SECONDS))
        except BoxSilent as error:
            arena.reveal(inputs)
            opened, allowance = self._gate.open(), self._allow(seconds, exact=True)
            self._expect_queued(allowance)
            self._returned(opened, allowance)
            raise Ungated from error
        return time.perf_counter() - start

    def _ask(self, *, marked: bool = True, of_emulated: Mapping[str, Any] = MappingProxyType({})) -> None:
        self._gate.next_round()
        self._send_call(marked=marked, more=of_emulated)

    def _send_call(self, *, marked: bool = True, more: Mapping[str, Any] = MappingProxyType({})) -> None:
        """A mark would wake the output's reader during a timed check."""
        mark = self._mark() if marked else ""
        self._calling = True
        asked = {name: value for name, value in more.items() if value}
        self._channel.send({"op": "call", "round": self._gate.round, "mark": mark, **asked})

    def _mark(self) -> str:
        return f"<{self._token}:{self._gate.round}>"

    def _expect_queued(self, allowance: Allowance, *, compiles: bool = False) -> None:
        """``compiles``: claimed compiling does not count, up to ``limits.KERNELS_OF_CALL_SECONDS`` and the
        submission's rest. Raises StillCompiling."""
        grants = compiles and not self.on_processor
        of_call = limits.KERNELS_OF_CALL_SECONDS if grants else 0.0
        deadline, since, kernel = allowance, 0.0, ""
        while True:
            try:
                said = self._said_of_call(deadline)
            except BoxSilent as error:
                if deadline is allowance:
                    raise
                self._compiling.left -= time.perf_counter() - since
                raise StillCompiling(kernel, deadline.seconds) from error
            if isinstance(said, Compiling):
                kernel = said.kernel
                granted = min(of_call, self._compiling.left)
                if deadline is allowance and granted > allowance.left():
                    deadline, since = Allowance(granted), time.perf_counter()
                continue
            if deadline is not allowance:
                took = time.perf_counter() - since
                of_call -= took
                self._compiling.left -= took
                allowance.forgive(took)
                deadline = allowance
            if isinstance(said, Queued):
                return

    def _said_of_call(self, deadline: Allowance) -> Queued | Compiling | Compiled:
        """A runner that keeps sending messages gets no more time than a silent one."""
        said = self._channel.expect(OfCall, deadline)
        if said.round != self._gate.round:
            raise BoxLied("it reported another round than the requested one")
        if not isinstance(said, Queued):
            self._channel.ask()
            if deadline.left() == 0.0:
                raise BoxSilent("no answer in time", deadline)
        assert isinstance(said, Queued | Compiling | Compiled)
        return said

    def _returned(self, opened: float, allowance: Allowance) -> Answer:
        try:
            message = self._channel.expect(Returned, allowance)
        except BoxSilent:
            if (late := self._told_late()) is None:
                raise
            message = late
        took = time.perf_counter() - opened
        self._calling = False
        if message.round != self._gate.round or not self._gate.is_done():
            raise BoxLied("it returned from another round than the requested one")
        if message.error is not None and message.error.kind == "ours" and self._device.modelled:
            raise JudgeFailure(f"The emulated GPU failed.\n{message.error.message}")
        control = message.control_us * 1e-6 if message.control_us is not None else None
        modelled = message.modelled_us * 1e-6 if message.modelled_us is not None else None
        return Answer(
            took,
            message.error,
            message.empty_launches,
            control,
            message.seen,
            modelled,
            message.profile,
            message.unfreed,
            message.forgotten,
            tuple(message.remarks),
            message.waits_left_out,
            message.sampled,
            message.instructions,
            message.step,
            tuple(message.quiz or ()),
            message.constructs,
        )

    def _told_late(self) -> Returned | None:
        if self.on_processor:
            return None
        try:
            message = self._channel.expect(Returned, Allowance(_FAULT_SECONDS))
        except ChannelError:
            return None
        return message if message.error is not None and message.error.sticky else None

    def printed(self) -> bytes:
        """Output since the last ``printed``.

        The runner prints a mark after each call, because answers take another channel. Late output is dropped: it must
        not count as the next call's.
        """
        data = bytearray(self.box.output())
        number, mark = self._gate.round, self._mark().encode()
        deadline = _within(_MARK_SECONDS)
        while self._marks_come and mark not in data and not self._channel.gone():
            if time.perf_counter() > deadline:
                self._marks_come = False
            time.sleep(_MARK_POLL_SECONDS)
            data += self.box.output()
        marks = list(re.finditer(rb"<%s:(\d{1,9})>" % self._token.encode(), data))
        # Late marks on a stopped host are worth waiting for.
        self._marks_come = self._marks_come or bool(marks)
        late = [mark.end() for mark in marks if int(mark[1]) <= self._last_read < number]
        self._last_read = number
        start = late[-1] if late else 0
        return re.sub(marks[0].re, b"", bytes(data[start:])) if marks else bytes(data)

    def end(self) -> BoxEnd | None:
        """None while the box seems to live."""
        return self.box.end(limits.BOX_END_SECONDS)

    def finish(self, seconds: float) -> bytes:
        """Let the runner end by itself, and return its output."""
        with suppress(OSError):
            self.box.connection.shutdown(socket.SHUT_RDWR)
        self.box.end(seconds)
        return self.box.output()

    def close(self) -> BoxEnd:
        """May be called again."""
        end = self.box.kill()
        if not self._closed:
            self._closed = True
            self._gate.close()
        return end


@contextmanager
def sealed(data: bytes) -> Iterator[int]:
    descriptor = os.memfd_create("artefact", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        with os.fdopen(os.dup(descriptor), "wb") as file:
            file.write(data)
        seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SEAL
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
        yield descriptor
    finally:
        os.close(descriptor)


def _within(seconds: float) -> float:
    return time.perf_counter() + seconds


__all__ = ["Answer", "BoxGone", "BoxLied", "BoxSilent", "CompilingTime", "RunnerClient", "Timed", "Ungated"]
