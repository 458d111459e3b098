"""Drives the runner in a box. A submission's answers are only hints; the arena and the judge's clock count."""

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

# A runner that needs this much processor time to map a few descriptors has stopped working.
_BIND_SECONDS = 10.0
# The same to look up who wrote the elements of a map: 65,536 take 0.3 s.
_WRITERS_SECONDS = 10.0
# A runner not queued by then waits behind the closed gate for an allocation, a synchronous copy or a compilation. The
# gate opens for it, and the call counts as ungated.
_GATED_SECONDS = 2.0
# The same for a box that was late once: it most likely always will be, and every case would wait.
_IMPATIENT_SECONDS = 0.1
# How long output may lag behind the answer after it, and how often it is polled.
_MARK_SECONDS = 2.0
_MARK_POLL_SECONDS = 0.0005
# How long after its limit a call may still report a fault on the GPU.
_FAULT_SECONDS = 3.0
# How often a late timed call checks that its answer is still wanted.
_LATE_LOOK_SECONDS = 1.0


@dataclass(frozen=True)
class Timed:
    #: The parts of its window, see ``grader.judge.gate``.
    before: float
    gate: float
    after: float
    #: From the request to queued: host time of the call, hidden behind the gate.
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
    #: A control's own measure of its call.
    control_s: float | None = None
    #: The runner's notes, if it was asked for them.
    seen: Seen | None = None
    #: The time of the counted work by the emulated GPU's model.
    modelled_s: float | None = None
    #: The counted work.
    profile: CallProfile | None = None
    #: Memory that the call left allocated on the emulated GPU.
    unfreed: Unfreed | None = None
    #: Work that the emulated GPU left out because nobody waited for it.
    forgotten: Forgotten | None = None
    #: The emulated GPU's remarks for the report.
    remarks: tuple[str, ...] = ()
    #: It waited for the device behind the closed gate, where a wait returns at once.
    waits_left_out: bool = False
    #: The part of a call on large arrays that an emulated GPU ran.
    sampled: Sampled | None = None
    #: Instructions of warps that an emulated GPU ran.
    instructions: int = 0
    #: Of a recorded call: its failing block, for a page.
    step: Stepped | None = None
    #: Of a call that is asked about.
    quiz: Sequence[QuizFact] = ()
    #: Of a watched call on an emulated GPU.
    constructs: Constructs | None = None

    @property
    def may_have_waited(self) -> bool:
        """True if a left-out wait may explain the fault, and the process can be called again with the gate open."""
        return self.waits_left_out and not (self.failure is not None and self.failure.sticky)


@dataclass
class CompilingTime:
    """Seconds that a submission has left for compiling, as its runners claim it, in all its boxes together."""

    left: float = limits.KERNELS_OF_SUBMISSION_SECONDS


class Ungated(Exception):
    """The call did not queue behind a closed gate, so it was not timed: time it ungated."""


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
        # Seconds of its start, by step.
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
        # A call was requested and has not returned.
        self._calling = False
        # It did not answer a question, so it must be closed.
        self.lost = False
        # A call was right only with the gate open from the start: from then on, all calls are made so.
        self.needs_open_gate = False

    def serve(self, interrupt: Callable[[], None], seconds: float) -> None:
        """Serve another submission, as our own boxes do, with its ``interrupt``. The box may live ``seconds`` from
        now."""
        self._channel.interrupt = interrupt
        clocked: Clocked = self.box  # type: ignore[assignment]
        clocked.live_for(seconds)

    def gone(self) -> bool:
        return self._channel.gone()

    @property
    def on_processor(self) -> bool:
        """See ``Device``."""
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
        """For work on the host's processor. A GPU that waits serves nobody, so there the clock is stricter."""
        patience = limits.CLOCK_PATIENCE if self.on_processor else limits.IDLE_PATIENCE
        return Allowance(seconds, self.box.cpu_seconds, patience=patience)

    def _allow(self, seconds: float, *, exact: bool = False) -> Allowance:
        if not self.on_processor:
            return Allowance(seconds)
        return Allowance(seconds, self.box.cpu_seconds, exact=exact, total=limits.BOX_WALL_SECONDS)

    def load(self, message: Mapping[str, Any], artefact: bytes | None = None) -> Failure | None:
        """Load a submission, reference or control. Returns the failure, or None. The artefact travels as a sealed
        ``memfd``: anyone could manipulate a path."""
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
                self._stream.settle()  # the memory's old contents are gone before the runner has it
            self._channel.send(message, [self._gate.descriptor, *arena.descriptors()])
            self._channel.expect(Bound, self._processor(_BIND_SECONDS))

    def unbind(self) -> None:
        """Have the runner release the arena: GPU memory is free only when no process maps it. A box whose call has
        not returned does not listen, so it is ended."""
        if self._calling and not self._channel.gone():
            with suppress(BoxUnavailable):
                self.box.kill()
        with suppress(ChannelError), phase("bind"):
            self._channel.send({"op": "unbind"})
            self._channel.expect(Bound, self._processor(_BIND_SECONDS))

    def warm_up(
        self, arena: Arena, inputs: Inputs, seconds: float, *, survey: bool = False, **of_emulated: Any
    ) -> Answer:
        """One call with the gate open from the start: it may compile and allocate, and its time does not count.

        Until everything is queued, libraries load and Triton compiles, within a separate budget; longer compilations
        have another, see ``_expect_queued``. Then ``seconds`` begin. ``survey``: see ``grader.judge.survey``;
        ``of_emulated``: see ``call``.
        """
        arena.reveal(inputs)
        self._gate.next_round()
        self._gate.open()
        self._send_call(more={"survey": survey, **of_emulated})
        self._expect_queued(self._allow(limits.COMPILE_SECONDS + seconds), compiles=True)
        return self._returned(time.perf_counter(), self._allow(seconds, exact=True))

    def call(self, arena: Arena, inputs: Inputs, seconds: float, **of_emulated: Any) -> Answer:
        """One call behind the gate, awaited on the connection. Raises a ChannelError if it does not return.

        ``of_emulated``: what an emulated GPU does in it: ``count`` the work; run a ``sample`` of the blocks (seed and
        targets of ``CountedSample``); leave it ``unchecked``, which is faster; ``watch`` what its kernels do."""
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
        """A call of which an emulated GPU records the block that goes wrong, one of choice, or the one that would write
        the element ``wanted`` (a ``Would`` with the array and the element), with the gate open from the start. It tests
        nothing."""
        chosen = step.model_dump() if step is not None else None
        return self._open_with(arena, inputs, seconds, {"record": wanted or chosen or True})

    def quiz_call(self, arena: Arena, inputs: Inputs, seconds: float, seed: int) -> Answer:
        """A call about which an emulated GPU gives facts, drawn from ``seed``, as ``Answer.quiz``."""
        return self._open_with(arena, inputs, seconds, {"quiz": seed})

    def _open_with(self, arena: Arena, inputs: Inputs, seconds: float, more: Mapping[str, Any]) -> Answer:
        arena.reveal(inputs)
        self._gate.next_round()
        opened, allowance = self._gate.open(), self._allow(seconds, exact=True)
        self._send_call(more=more)
        self._expect_queued(allowance, compiles=True)
        return self._returned(opened, allowance)

    def open_call(self, arena: Arena, inputs: Inputs, seconds: float, **of_emulated: Any) -> Answer:
        """The same with the gate open from the start: then waits are real."""
        arena.reveal(inputs)
        self._gate.next_round()
        opened, allowance = self._gate.open(), self._allow(seconds, exact=True)
        self._send_call(more=of_emulated)
        self._expect_queued(allowance, compiles=True)
        return self._returned(opened, allowance)

    def writers(self, array: str, first: int, found: ErrorMap, given: Sequence[str] = ()) -> Writers | None:
        """Who wrote the element ``first`` (flat) and the cells of a map of ``array`` in the last call, and which
        elements of the arrays ``given`` it read, if this is an emulated GPU that says so. A box that fails to answer is
        ended: it is then ``lost``."""
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

        If not ``gated``, the gate is open before the request, so host time counts. Raises Ungated if a gated call does
        not queue, a ChannelError if the box fails.
        """
        # Here, because it may be slow; asked again only if the call is late.
        allowance = self._allow(seconds, exact=True)
        # First of all: the longer a runner's stream is blocked at the gate, the more slowly it polls.
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
        """Spin while ``allowance`` lasts, unread before ``deadline``: nothing else should run during a timed call."""
        while not self._gate.spin_until_done(deadline, self._channel.gone):
            if self._channel.gone() or (left := allowance.left()) == 0.0:
                return False
            # The round is late anyway: checking if the answer is still wanted disturbs nothing.
            self._channel.ask()
            deadline = time.perf_counter() + min(left, _LATE_LOOK_SECONDS)
        return True

    def _release(self) -> None:
        """Let nothing of the judge wait for this box, because the device's next work would wait too. If that fails, end
        the box."""
        if self._gate.give_up():
            return
        if self._channel.gone():
            self.end()  # it seems to have ended by itself: report that
        self.box.kill()
        self._gate.give_up()

    def _queue(self, arena: Arena, inputs: Mapping[str, torch.Tensor], seconds: float) -> float:
        """Request the next round's call. Returns the seconds until it waits at the gate."""
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
        """Timed calls have no mark: nobody reads their output, and a mark would wake the reader during the check."""
        mark = self._mark() if marked else ""
        self._calling = True
        asked = {name: value for name, value in more.items() if value}
        self._channel.send({"op": "call", "round": self._gate.round, "mark": mark, **asked})

    def _mark(self) -> str:
        return f"<{self._token}:{self._gate.round}>"

    def _expect_queued(self, allowance: Allowance, *, compiles: bool = False) -> None:
        """``compiles``: while the runner claims to compile, ``allowance`` does not count, up to
        ``limits.KERNELS_OF_CALL_SECONDS`` and the submission's remaining time for it. Raises StillCompiling."""
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
        """The box's output since the last ``printed``.

        Output and answers use different channels, so the runner prints a mark after each call. Output after the reader
        gave up is dropped: it must not count as the next call's.
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
        # A mark that was only late, on a host that stood still: the next ones are worth waiting for.
        self._marks_come = self._marks_come or bool(marks)
        late = [mark.end() for mark in marks if int(mark[1]) <= self._last_read < number]
        self._last_read = number
        start = late[-1] if late else 0
        return re.sub(marks[0].re, b"", bytes(data[start:])) if marks else bytes(data)

    def end(self) -> BoxEnd | None:
        """How the box ended, after its connection is gone; None while it seems to live."""
        return self.box.end(limits.BOX_END_SECONDS)

    def finish(self, seconds: float) -> bytes:
        """Let the runner end by itself, wait for it at most ``seconds``, and return what its box printed."""
        with suppress(OSError):
            self.box.connection.shutdown(socket.SHUT_RDWR)
        self.box.end(seconds)
        return self.box.output()

    def close(self) -> BoxEnd:
        """End the box in any state. Harmless when called again."""
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
