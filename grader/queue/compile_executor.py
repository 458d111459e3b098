"""Serves the queue ``compile``, without GPU and torch. Also compiles kernels of Triton submissions that wait
behind a busy GPU, without changing their state.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import structlog

from grader import metrics
from grader.challenge.pattern import cases_on
from grader.device_kinds import kind_of
from grader.errors import BoxUnavailable
from grader.judge.compilation import (
    artefact_of,
    compile_error,
    compile_kernels,
    compile_source,
    compiler_of,
    kernels_request,
    request_of,
    with_names,
)
from grader.judge.environment import machine_environment
from grader.judge.process import Cancelled
from grader.logs import get_logger
from grader.queue.coordinator import AWAY, Coordinator
from grader.queue.finaliser import Finaliser, check_version, words
from grader.queue.heartbeat import Heartbeat, HeldLease
from grader.queue.sandbox_health import SandboxHealth
from grader.records.ahead import WaitingSource
from grader.records.claims import Claim
from grader.sandbox.box import BoxMaker
from grader.sandbox.compiler.nvcc import CompileRequest, CompileResult, compile_spec
from grader.sandbox.compiler.triton import KernelsRequest, kernels_spec
from grader.sandbox.pool import SpareBoxes
from grader.sandbox.watched import WatchedBoxes
from grader.schemas.artefact import Artefact
from grader.schemas.own_case import OwnCase
from grader.schemas.submission import ProgressView, State
from grader.wakeups import KERNELS

log = get_logger(__name__)

# After this many failures in a row by the host's fault, it compiles no kernels ahead for ``_REST_S``.
_MISSES = 3
_REST_S = 600.0


class Compiler(Protocol):
    def compile(self, request: CompileRequest, interrupt: Callable[[], None]) -> CompileResult: ...

    def compile_kernels(self, request: KernelsRequest, interrupt: Callable[[], None]) -> Artefact: ...

    def try_box(self) -> None:
        """Raises BoxUnavailable if this host cannot start a box."""

    def close(self) -> None:
        """Free the spare boxes."""


class BoxCompiler:
    """Keeps up to ``spares`` boxes ready, and one for kernels after the first use: these load torch, which
    takes seconds and memory.
    """

    def __init__(self, boxes: BoxMaker, spares: int, background: bool = True) -> None:
        self._maker, self._background = boxes, background
        self._boxes = SpareBoxes(boxes, compile_spec(background), spares)
        self._boxes.refill()
        self._kernel_boxes = SpareBoxes(boxes, kernels_spec(background), min(1, spares))

    def compile(self, request: CompileRequest, interrupt: Callable[[], None]) -> CompileResult:
        try:
            wanted = replace(request, background=self._background)
            return compile_source(WatchedBoxes(self._boxes, metrics.box_started), wanted, interrupt)
        finally:
            self._boxes.refill()

    def compile_kernels(self, request: KernelsRequest, interrupt: Callable[[], None]) -> Artefact:
        try:
            wanted = replace(request, background=self._background)
            return compile_kernels(WatchedBoxes(self._kernel_boxes, metrics.box_started), wanted, interrupt)
        finally:
            self._kernel_boxes.refill()

    def try_box(self) -> None:
        self._maker.start(compile_spec(self._background)).kill()

    def close(self) -> None:
        self._boxes.close()
        self._kernel_boxes.close()


class CompileExecutor:
    def __init__(
        self,
        coordinator: Coordinator,
        compiler: Compiler,
        heartbeat: Heartbeat,
        stopping: threading.Event,
    ) -> None:
        self._coordinator = coordinator
        self._compiler = compiler
        self._heartbeat = heartbeat
        self._stopping = stopping
        self._finaliser = Finaliser(coordinator, stopping)
        self._sandbox_health = SandboxHealth(compiler, self._finaliser.set_sandbox_fault)
        self._made_kernels = False
        self._misses = 0
        self._rests_until = 0.0

    def serve_one(self) -> bool:
        """Compile the next submission; False if there is none."""
        if self._stopping.is_set():
            return False
        found = self._coordinator.claim_to_compile()
        if found is None:
            return False
        held = found.held
        with (
            structlog.contextvars.bound_contextvars(**held.context, worker=self._coordinator.name),
            self._heartbeat.hold(held) as lease,
        ):
            log.info("compiling", device=held.device, architecture=found.architecture)
            self._serve(held, lease, found.architecture)
        self._sandbox_health.wait(self._stopping)
        return True

    def _serve(self, held: Claim, lease: HeldLease, architecture: str) -> None:
        try:
            self._compile(held, lease, architecture)
        except Cancelled:
            self._finaliser.give_back(held)
        except BoxUnavailable as error:
            log.exception("compiling_failed")
            if not self._stopping.is_set() and (why := self._sandbox_health.lost(alone=True)):
                self._finaliser.give_back(held, why)
            else:
                self._finaliser.fail(held, words(error), None)
        except AWAY as error:
            self._finaliser.give_back_away(held, error)
        except Exception as error:
            # Any error: a submission must always finish.
            log.exception("compiling_failed")
            self._finaliser.fail(held, words(error), None)

    def _compile(self, held: Claim, lease: HeldLease, architecture: str) -> None:
        served = self._coordinator.serve(held.challenge)
        challenge = served.challenge
        check_version(held, served.version.version)
        asked = OwnCase.model_validate_json(held.own_case) if held.own_case is not None else None
        request = with_names(request_of(challenge, held.language, held.source, architecture), asked)
        key = request.key()
        if self._finaliser.write(lambda: self._coordinator.use_artefact(key)):
            self._hand_on(held, key)
            return
        telling = ProgressView(label=compiler_of(held.language).progress)
        self._finaliser.write(
            lambda: self._coordinator.progress(held, State.COMPILING, telling, begins=False)
        )
        result = self._compiler.compile(request, lambda: self._ask(lease))
        if result.ok:
            artefact = artefact_of(request, result)
            self._finaliser.write(lambda: self._coordinator.keep_artefact(artefact))
            self._hand_on(held, key)
            return
        cases = len(cases_on(challenge, kind_of(held.device), hidden=not held.run))
        version = compiler_of(held.language).version()
        environment = {**machine_environment(), str(held.language.compiler): str(version)}
        seconds = round(result.seconds, 4)
        report = compile_error(challenge, held.language, held.device, result, cases, environment).model_copy(
            update={"breakdown_s": {"compile": seconds, "total": seconds}}
        )
        self._finaliser.finish(held, report, served.version)

    def _ask(self, lease: HeldLease) -> None:
        if lease.cancel_requested or lease.lost or self._stopping.is_set():
            raise Cancelled

    def _hand_on(self, held: Claim, key: str) -> None:
        if not self._finaliser.write(lambda: self._coordinator.hand_on(held, key)):
            raise Cancelled
        log.info("compiled")

    @property
    def rests(self) -> bool:
        """True if kernels failed here recently, so that other hosts should compile them."""
        return time.monotonic() < self._rests_until

    def compile_ahead(self) -> bool:
        """Compile kernels behind a busy GPU; False if there are none. Failures are only logged: the worker
        that runs the submission compiles them.
        """
        if self._stopping.is_set() or self.rests:
            return False
        waiting = self._coordinator.waiting_kernels()
        for number, one in enumerate(waiting, 1):
            about = {"submission": one.public_id, **({"request": one.request_id} if one.request_id else {})}
            with structlog.contextvars.bound_contextvars(**about, worker=self._coordinator.name):
                request = self._reserved(one)
                if request is None:
                    continue
                if number < len(waiting):
                    self._coordinator.hint(KERNELS)
                self._compile_kernels(request)
                return True
        return False

    def _reserved(self, one: WaitingSource) -> KernelsRequest | None:
        """None if another worker compiles them or they exist already."""
        try:
            challenge = self._coordinator.load(one.challenge)
            request = kernels_request(challenge, one.language, one.source, one.architecture)
            key = request.key()
        except Exception:
            log.exception("kernels_not_compiled_ahead")
            return None
        return request if self._coordinator.reserve_kernels(key, one.user) else None

    def _compile_kernels(self, request: KernelsRequest) -> None:
        began, key = time.monotonic(), request.key()
        try:
            artefact = self._compiler.compile_kernels(request, self._ask_whether_to_stop)
        except Cancelled:
            self._leave_to_others(key)
            return
        except BoxUnavailable as error:
            self._leave_to_others(key)
            self._count_miss(words(error))
            return
        except Exception:
            log.exception("kernels_not_compiled_ahead")
            return
        if artefact.library:
            self._made_kernels, self._misses = True, 0
            self._coordinator.fill_kernels(artefact)
        elif not self._made_kernels:
            self._count_miss(
                "No compilation ahead has worked yet: the boxes of this host may lack torch or Triton."
            )
        seconds = round(time.monotonic() - began, 4)
        log.info("kernels_compiled_ahead", seconds=seconds, bytes=len(artefact.library))

    def _leave_to_others(self, key: str) -> None:
        self._coordinator.release_kernels(key)

    def _count_miss(self, reason: str) -> None:
        self._misses += 1
        if self._misses >= _MISSES:
            self._misses, self._rests_until = 0, time.monotonic() + _REST_S
            log.warning("no_kernels_compiled_ahead", reason=reason, for_s=_REST_S)

    def _ask_whether_to_stop(self) -> None:
        if self._stopping.is_set():
            raise Cancelled
